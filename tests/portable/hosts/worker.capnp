using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["public", "private"])),
    (name = "public", network = (allow = ["public"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);

const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
  durableObjectNamespaces = [(className = "Durable", uniqueKey = "durable")],
  durableObjectStorage = (inMemory = void),
  bindings = [
    (name = "PUBLIC", service = "public"),
    (name = "OBJECTS", durableObjectNamespace = "Durable"),
    (name = "IN_OBJECT", json = "@IN_OBJECT@")
  ]
);
