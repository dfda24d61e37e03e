/** Loads a package from this folder's own `node_modules`. */
export function load(name: string): Promise<unknown> {
  return import(name)
}
