import { isRootBecause } from './_unprivileged.ts'
import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SandboxManager } from '@anthropic-ai/sandbox-runtime'
import type { Sandbox } from 'toolwright/builtins/sandbox'
import { sandboxRuntime, type SandboxRuntimeOptions } from 'toolwright/builtins/sandbox-runtime'
import { describeSandbox } from 'toolwright/conformance/sandboxes'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { missing } from '../servers/sandbox-runtime.ts'
import { end, withMark } from './_marks.ts'
import { canary, refusalOf, temporary, workspace } from './_workspace.ts'

const proxyScript = readFileSync(join(import.meta.dirname, '_through-proxy.py'), 'utf8')
const cannot = isRootBecause ?? missing

/** A directory that the package makes writable for every command. */
const sharedDirectory = '/tmp/claude'

async function open(root: string, options: Partial<SandboxRuntimeOptions> = {}): Promise<Sandbox> {
  const sandbox = await sandboxRuntime({ root, ...options })
  onTestFinished(() => sandbox.close())
  return sandbox
}

async function said(root: string, command: string, options: Partial<SandboxRuntimeOptions> = {}): Promise<string> {
  const { stdout, stderr } = await (await open(root, options)).exec(command)
  return stdout.text + stderr.text
}

describe.skipIf(cannot !== undefined)(`sandboxRuntime (${cannot ?? 'all is here'})`, () => {
  describeSandbox('sandboxRuntime', () => open(workspace().root))

  test('tells what holds', async () => {
    const { name, isolation, paths } = await open(workspace().root)
    expect({ name, isolation, paths }).toEqual({ name: 'sandbox-runtime', isolation: 'process', paths: 'descriptor' })
  })

  /** Commands that a hostile model would try, and what they would print if they got through. */
  const attacks: readonly (readonly [what: string, command: string])[] = [
    ['the file beside the root', 'cat ../outside/secret.txt'],
    ['the file by its whole path', 'cat "$OUTSIDE/secret.txt"'],
    ['a link to it', 'ln -s "$OUTSIDE" here && cat here/secret.txt'],
    ['a link to it that was there', 'cat to-outside/secret.txt; echo LEAK > to-outside/made && cat to-outside/made'],
    ['a hard link to it', 'ln "$OUTSIDE/secret.txt" here && cat here'],
    [
      'all files of the machine',
      'grep -rs "$CANARY_START" /home /root /tmp /var /opt /srv /mnt /etc /run 2> /dev/null',
    ],
    ['writing beside the root', 'echo x > ../outside/made; ls ../outside'],
    ['writing into the system', 'echo LEAK > /usr/bin/made && cat /usr/bin/made'],
    ['the passwords', 'cat /etc/shadow /etc/hostname && echo LEAK'],
    [
      'homes and state of the machine',
      'find /root /home /var /run /srv -mindepth 1 2> /dev/null | grep . && echo LEAK',
    ],
    [
      'the directory that commands of others share',
      `cat ${sharedDirectory}/secret-$MARK ${sharedDirectory}/sub-$MARK/secret`,
    ],
    ['writing there', `echo LEAK > ${sharedDirectory}/made-$MARK && cat ${sharedDirectory}/made-$MARK`],
    ['the environment of the parent', "tr '\\0' '\\n' < /proc/$PPID/environ"],
    ['the environments of all processes', "cat /proc/[0-9]*/environ | tr '\\0' '\\n'"],
    ['the root of another process', 'cat /proc/1/root/etc/hostname /proc/1/root"$OUTSIDE"/secret.txt'],
    ['the descriptors of all processes', 'cat /proc/[0-9]*/fd/* 2> /dev/null'],
    ['a user namespace of its own', 'unshare -Ur id -u && echo LEAK'],
    ['a mount in a namespace', 'unshare -rm mount --bind /usr /mnt && echo LEAK'],
    ['entering another namespace', 'nsenter -t 1 -m true && echo LEAK'],
    ['more rights', 'grep -E "^Cap(Eff|Prm|Amb)" /proc/self/status | grep -v "0000000000000000" && echo LEAK'],
    ['new privileges', 'grep "NoNewPrivs:.*0" /proc/self/status && echo LEAK'],
    [
      'settings of the kernel',
      'find /proc/sys -writable -type f ! -name ns_last_pid 2> /dev/null | grep . && echo LEAK',
    ],
    ['the network of the host', '(echo > /dev/tcp/127.0.0.1/$PORT) 2> /dev/null && echo LEAK'],
    ...['request', 'tunnel', 'socks'].flatMap((way) => [
      [`the host through the proxy, by a ${way}`, `python3 proxy.py ${way} "http://127.0.0.1:$PORT/"`] as const,
      [
        `the host through the proxy by its name, by a ${way}`,
        `python3 proxy.py ${way} "http://localhost:$PORT/"`,
      ] as const,
    ]),
    [
      'a socket in the workspace',
      `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) and connect(S, pack_sockaddr_un("host.sock")) and print "LEAK\\n"'`,
    ],
    ['a socket of the file system', `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) and print "LEAK\\n"'`],
    ['a terminal', '(echo x > /dev/tty) 2> /dev/null && echo LEAK'],
    ['devices of the machine', 'ls /dev/sda /dev/vda /dev/mem /dev/kmsg 2> /dev/null && echo LEAK'],
    ['the hooks of git', 'echo LEAK > .git/hooks/pre-commit && cat .git/hooks/pre-commit'],
    ['another directory for git', 'mv .git old && echo LEAK; rm -rf .git && echo LEAK'],
    ['the settings of the editor', 'echo LEAK > .vscode/tasks.json && cat .vscode/tasks.json'],
    ['the host by a signal', 'kill -9 $HOST && echo LEAK'],
  ]

  test.each(attacks)('holds against a command that wants %s', async (_, command) => {
    const { root, outside } = workspace({
      '.git/hooks/sample': 'kept',
      '.vscode/settings.json': '{}',
      'proxy.py': proxyScript,
    })
    symlinkSync(outside, join(root, 'to-outside'))
    vi.stubEnv('TOOLWRIGHT_CANARY', canary)
    const mark = randomUUID()
    const hadShared = existsSync(sharedDirectory)
    mkdirSync(join(sharedDirectory, `sub-${mark}`), { recursive: true })
    for (const name of [`secret-${mark}`, `sub-${mark}/secret`]) writeFileSync(join(sharedDirectory, name), canary)
    const server = createHttpServer((_request, response) => response.end(canary)).listen(0, '127.0.0.1')
    const socket = createServer((client) => client.end(canary)).listen(join(root, 'host.sock'))
    await Promise.all([server, socket].map(async (each) => each.listening || once(each, 'listening')))
    const descriptor = openSync(join(outside, 'secret.txt'), 'r')
    onTestFinished(() => {
      vi.unstubAllEnvs()
      for (const each of [server, socket]) each.close()
      closeSync(descriptor)
      rmSync(join(sharedDirectory, `secret-${mark}`))
      rmSync(join(sharedDirectory, `sub-${mark}`), { recursive: true })
      if (!hadShared) rmdirSync(sharedDirectory)
    })
    const { port } = server.address() as { readonly port: number }
    const env = {
      OUTSIDE: outside,
      PORT: `${port}`,
      MARK: mark,
      HOST: `${process.pid}`,
      CANARY_START: canary.slice(0, 10),
    }
    const text = await said(root, command, { env })
    expect(text).not.toContain(canary)
    expect(text).not.toMatch(/^LEAK/m)
    expect(readdirSync(outside)).toEqual(['secret.txt'])
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(canary)
    expect(existsSync(join(sharedDirectory, `made-${mark}`))).toBe(false)
    expect(existsSync(join(root, '.git/hooks/sample'))).toBe(true)
  })

  test('a command reaches what is on the list, through the proxy, and nothing else', async () => {
    const server = createHttpServer((_request, response) => response.end('hello from the host')).listen(0, '127.0.0.1')
    const other = createHttpServer((_request, response) => response.end(canary)).listen(0, '127.0.0.1')
    await Promise.all([server, other].map(async (each) => each.listening || once(each, 'listening')))
    onTestFinished(() => [server, other].forEach((each) => each.close()))
    const [port, otherPort] = [server, other].map((each) => (each.address() as { readonly port: number }).port)
    const sandbox = await open(workspace({ 'proxy.py': proxyScript }).root, { domains: [`127.0.0.1:${port}`] })
    for (const way of ['request', 'tunnel', 'socks']) {
      const reached = async (at: string): Promise<string> => {
        const { stdout, stderr } = await sandbox.exec(`python3 proxy.py ${way} http://${at}/`)
        return stdout.text + stderr.text
      }
      expect(await reached(`127.0.0.1:${port}`), way).toContain('hello from the host')
      for (const at of [`127.0.0.1:${otherPort}`, 'example.com', `localhost:${port}`]) {
        expect(await reached(at), way).toMatch(/ 403 |^403 .*blocked|^socks 2$/m)
      }
    }
    expect((await sandbox.exec('getent hosts localhost')).stdout.text).toMatch(/localhost/)
    expect((await sandbox.exec(`(echo > /dev/tcp/127.0.0.1/${port}) 2>&1`)).stdout.text).toContain('refused')
  })

  test('the environment has what is given, and a directory for temporary files that works', async () => {
    vi.stubEnv('LC_SECRET', canary)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', canary)
    onTestFinished(() => void vi.unstubAllEnvs())
    const text = await said(workspace().root, 'env; f=$(mktemp) && echo written > "$f" && echo "in $(cat "$f")"', {
      env: { GIVEN: 'a b' },
    })
    expect(text).toContain('GIVEN=a b\n')
    expect(text).toContain('in written')
    expect(text).not.toContain(canary)
  })

  test('the directory for temporary files is gone when the sandbox is closed', async () => {
    const sandbox = await open(workspace().root)
    const { stdout } = await sandbox.exec('touch "$TMPDIR/made"; ln -s "$PWD" "$TMPDIR/link"; printf %s "$TMPDIR"')
    expect(readdirSync(stdout.text)).toEqual(['link', 'made'])
    await sandbox.writeFile('kept', new Uint8Array())
    await sandbox.close()
    expect(existsSync(stdout.text)).toBe(false)
    expect(readdirSync(sandbox.root)).toEqual(['kept'])
  })

  test('a directory for temporary files that cannot be removed keeps no sandbox open', async () => {
    const sandbox = await open(workspace().root)
    const { stdout } = await sandbox.exec('mkdir -p "$TMPDIR/a/b" && chmod 0 "$TMPDIR/a" && printf %s "$TMPDIR"')
    onTestFinished(() => {
      chmodSync(join(stdout.text, 'a'), 0o700)
      rmSync(stdout.text, { recursive: true })
    })
    await sandbox.close()
    await open(workspace().root, { domains: ['other.example'] })
  })

  test('a command that is too long once it is quoted is refused', async () => {
    const sandbox = await open(workspace().root)
    expect(await refusalOf(sandbox.exec(`: "${"'".repeat(50_000)}"`))).toContain('not started')
    expect((await sandbox.exec('echo hello')).stdout.text).toBe('hello\n')
  })

  test('paths that the host names are there, to read', async () => {
    const { root, outside } = workspace()
    expect(await said(root, `cat ${outside}/secret.txt; echo x > ${outside}/made`, { readable: [outside] })).toContain(
      canary,
    )
    expect(readdirSync(outside)).toEqual(['secret.txt'])
  })

  test('a root with the characters of a pattern is one directory', async () => {
    const { root, outside } = workspace({ 'a[b]*/f': 'inside', 'ab/f': canary })
    const text = await said(join(root, 'a[b]*'), 'cat f; cat ../ab/f; echo x > ../ab/made')
    expect(text).toMatch(/^inside/)
    expect(text).not.toContain(canary)
    expect(readdirSync(join(root, 'ab'))).toEqual(['f'])
    expect(readdirSync(outside)).toEqual(['secret.txt'])
  })

  test('a protected name that is a link to the host does not bring the host in', async () => {
    const { root, outside } = workspace()
    symlinkSync(outside, join(root, '.git'))
    linkSync(join(root, '.git'), join(root, '.vscode'))
    expect(await said(root, 'cat .git/secret.txt .vscode/secret.txt')).not.toContain(canary)
  })

  test('nothing is left in the workspace by the sandbox itself', async () => {
    const { root } = workspace({ a: '' })
    await said(root, 'true')
    expect(readdirSync(root)).toEqual(['a'])
  })

  test('a flood of output is bounded, and a command that left its group ends with its shell', async () => {
    const sandbox = await open(workspace().root)
    const line = await sandbox.exec('head -c 50000000 /dev/zero | tr "\\0" y')
    expect(line.stdout).toMatchObject({ totalBytes: 50_000_000, omittedBytes: 50_000_000 - 32_768 })
    const endless = await sandbox.exec('yes', { timeout: 1_000 })
    expect(endless.timedOut).toBe(true)
    const mark = `mark-${randomUUID()}`
    await sandbox.exec(`setsid bash -c 'sleep 300; : ${mark}' > /dev/null 2>&1 & sleep 0.2`)
    await expect.poll(() => withMark(mark), { timeout: 20_000 }).toEqual([])
  })

  test('commands that are ended while their sandboxes are set up leave nothing running', async () => {
    const mark = `mark-${randomUUID()}`
    const sandbox = await open(workspace().root)
    onTestFinished(() => end(withMark(mark)))
    const jobs = Array.from({ length: 30 }, async (_, index) => {
      const job = await sandbox.execBackground(`exec -a ${mark} sleep 300`)
      await new Promise((resolve) => setTimeout(resolve, (index % 15) * 20))
      await job.kill()
    })
    await Promise.all(jobs)
    await expect.poll(() => withMark(mark), { timeout: 20_000 }).toEqual([])
  })

  test('commands do not outlive their host, whenever it is killed', async () => {
    const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
    const [{ root }, left] = [workspace(), temporary()]
    for (const delay of [0, 100, 200, 300, 450, 600, 900, Infinity]) {
      const [mark, markOfHost] = [`mark-${randomUUID()}`, `host-${randomUUID()}`]
      // The package's way to its proxy lives on: it leads nowhere then.
      onTestFinished(() => end([...withMark(mark), ...withMark(markOfHost)]))
      const words = [join(import.meta.dirname, '_host.ts'), 'sandbox-runtime', root, mark, '4']
      // A host that is killed leaves its temporary files.
      const env = { ...process.env, MARK_OF_HOST: markOfHost, TMPDIR: left }
      const host = spawn(process.execPath, [...flags, ...words], { stdio: ['pipe', 'pipe', 'inherit'], env })
      await once(host.stdout, 'data')
      if (delay < Infinity) await new Promise((resolve) => setTimeout(resolve, delay))
      else await expect.poll(() => withMark(mark).length, { timeout: 20_000 }).toBeGreaterThan(16)
      host.kill('SIGKILL')
      await expect.poll(() => withMark(mark), { timeout: 20_000, message: `killed after ${delay} ms` }).toEqual([])
    }
  })

  test('a sandbox with other domains is refused while one is open, and what to do is said', async () => {
    const first = await open(workspace().root, { domains: ['b.example', 'a.example'] })
    const same = await open(workspace().root, { domains: ['a.example', 'b.example', 'a.example'] })
    const other = sandboxRuntime({ root: workspace().root, domains: ['c.example'] })
    await expect(other).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
      message: expect.stringMatching(/\["a\.example","b\.example"\] is in use.*another process/),
    })
    await first.close()
    await first.close()
    expect((await same.exec('echo still here')).stdout.text).toBe('still here\n')
    expect(await refusalOf(first.exec('true'))).toContain('closed')
    await same.close()
    const next = await open(workspace().root, { domains: ['c.example'] })
    expect((await next.exec('echo hello')).stdout.text).toBe('hello\n')
  })

  test('what a sandbox reads is its own, also if another one is open', async () => {
    const [one, other] = [workspace({ f: 'one' }), workspace({ f: canary })]
    const sandboxes = [await open(one.root, { readable: [one.outside] }), await open(other.root)]
    const texts = await Promise.all(
      sandboxes.map((sandbox) =>
        sandbox.exec(`cat ${one.root}/f ${one.outside}/secret.txt ${other.root}/f 2> /dev/null`),
      ),
    )
    expect(texts.map(({ stdout }) => stdout.text)).toEqual([`one${canary}`, canary])
  })

  test('is refused if the application has configured the package for itself', async () => {
    await SandboxManager.initialize({
      network: { allowedDomains: ['mine.example'], deniedDomains: [] },
      filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
    })
    try {
      await expect(sandboxRuntime({ root: workspace().root })).rejects.toMatchObject({
        code: 'E_INVALID_CONFIGURATION',
        message: expect.stringContaining('configured it already'),
      })
      expect(SandboxManager.getConfig()?.network.allowedDomains).toEqual(['mine.example'])
    } finally {
      await SandboxManager.reset()
    }
    expect((await (await open(workspace().root)).exec('echo hello')).stdout.text).toBe('hello\n')
  })

  test('is refused if the package is missing, with how to install it', async () => {
    const hooks = `import { registerHooks } from 'node:module'
registerHooks({ resolve(specifier, context, next) {
  if (specifier !== '@anthropic-ai/sandbox-runtime') return next(specifier, context)
  throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' })
} })`
    const program = `import { sandboxRuntime } from 'toolwright/builtins/sandbox-runtime'
await sandboxRuntime({ root: ${JSON.stringify(workspace().root)} }).catch(({ code, message }) => console.log(code, message))`
    const flags = ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, '-C', '@toolwright/source']
    const words = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...words], { cwd: import.meta.dirname })
    expect(stdout).toMatch(/^E_INVALID_CONFIGURATION .*\(npm install @anthropic-ai\/sandbox-runtime\)/)
  })

  test('is refused if a domain is none, and can be made afterwards', async () => {
    const wrong = sandboxRuntime({ root: workspace().root, domains: ['http://example.com/x'] })
    await expect(wrong).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
    await open(workspace().root, { domains: ['example.com'] })
  })

  afterAll(() => expect(SandboxManager.getProxyPort()).toBeUndefined())
})

test.each([
  ['an option is unknown', { sandboxed: true }],
  ['a path is relative', { readable: ['etc'] }],
  ['a domain is no text', { domains: [1] }],
  ['the root is missing', { root: '/nowhere/at/all' }],
])('sandboxRuntime is refused if %s', async (_, options) => {
  await expect(sandboxRuntime({ root: '/tmp', ...options } as never)).rejects.toMatchObject({
    code: 'E_INVALID_CONFIGURATION',
  })
})
