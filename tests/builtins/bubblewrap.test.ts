import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { bubblewrap } from 'toolwright/builtins/bubblewrap'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { describeSandbox } from 'toolwright/conformance/sandboxes'
import { missing, user } from '../servers/bubblewrap.ts'
import { end, withMark } from './_marks.ts'
import { canary, put, walled, workspace } from './_workspace.ts'

describe.skipIf(missing !== undefined)(`bubblewrap (${missing ?? 'is here'})`, () => {
  describeSandbox('bubblewrap', () => walled(workspace().root), true)

  async function said(root: string, command: string, options = {}): Promise<string> {
    const { stdout, stderr } = await (await walled(root, options)).exec(command)
    return stdout.text + stderr.text
  }

  /** Commands that a hostile model would try, and what they would print if they got through. */
  const attacks: readonly (readonly [what: string, command: string])[] = [
    ['the file beside the root', 'cat ../outside/secret.txt'],
    ['the file by its whole path', 'cat "$OUTSIDE/secret.txt"'],
    ['a link to it', 'ln -s "$OUTSIDE" here && cat here/secret.txt'],
    ['a hard link to it', 'ln "$OUTSIDE/secret.txt" here && cat here'],
    ['writing beside the root', 'echo x > ../outside/made; ls ../outside'],
    ['writing into the system', 'echo LEAK > /usr/bin/made && cat /usr/bin/made'],
    ['writing into the root of the file system', 'echo LEAK > /made && cat /made'],
    ['writing into /etc', 'echo LEAK > /etc/made && cat /etc/made'],
    ['the home of the user', 'ls -A /root /home/* 2>&1 | grep -c . | grep -v "^[012]$"'],
    ['the passwords', 'cat /etc/shadow'],
    ['sockets of daemons', 'ls /run/docker.sock /var/run/docker.sock /run/dbus 2>/dev/null && echo LEAK'],
    ['the environment of the parent', "tr '\\0' '\\n' < /proc/$PPID/environ"],
    ['the environment of the first process', "tr '\\0' '\\n' < /proc/1/environ"],
    ['the environments of all processes', "cat /proc/[0-9]*/environ | tr '\\0' '\\n'"],
    ['the command lines of the host', 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -o "v[i]test" && echo LEAK'],
    ['the root of another process', 'cat /proc/1/root/etc/hostname /proc/1/root"$OUTSIDE"/secret.txt'],
    ['the descriptors of the first process', 'cat /proc/1/fd/* 2>/dev/null'],
    [
      'the descriptors of its own',
      'for fd in /proc/self/fd/*; do readlink $fd; done | grep -vE "^(pipe|socket|/dev/null|/proc)" && echo LEAK',
    ],
    ['a user namespace of its own', 'unshare -Ur id -u && echo LEAK'],
    ['a mount', 'mount -t tmpfs x /mnt && echo LEAK'],
    ['a mount in a namespace', 'unshare -rm mount --bind /usr /mnt && echo LEAK'],
    ['leaving by chroot', 'chroot /proc/1/root /bin/true && echo LEAK'],
    ['entering another namespace', 'nsenter -t 1 -m true && echo LEAK'],
    [
      'outliving what made the sandbox',
      `python3 -c "import ctypes; l=ctypes.CDLL(None); s=ctypes.c_int(); l.prctl(1,9); l.prctl(1,0); l.prctl(1,17); l.prctl(2,ctypes.byref(s)); print('' if s.value==9 else 'LEAK')"`,
    ],
    ['more rights', 'grep -E "^Cap(Eff|Prm|Bnd|Amb)" /proc/self/status | grep -v "0000000000000000" && echo LEAK'],
    ['new privileges', 'grep "NoNewPrivs:.*0" /proc/self/status && echo LEAK'],
    ['the network of the host', '(echo > /dev/tcp/127.0.0.1/$PORT) 2>/dev/null && echo LEAK'],
    [
      'any interface',
      'ls /sys/class/net 2>/dev/null | grep -v lo && echo LEAK; tail -n +3 /proc/net/dev | grep -v "lo:" && echo LEAK',
    ],
    [
      'a socket in the workspace',
      `python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.connect('host.sock'); print('LEAK')"`,
    ],
    [
      'an abstract socket',
      `python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.connect(chr(0)+'$ABSTRACT'); print('LEAK')"`,
    ],
    ['tracing', `python3 -c "import ctypes; print('LEAK' if ctypes.CDLL(None).ptrace(0,0,0,0)==0 else '')"`],
    ['io_uring', `python3 -c "import ctypes; l=ctypes.CDLL(None); print('LEAK' if l.syscall(425,8,0)!=-1 else '')"`],
    [
      'the keyring',
      `python3 -c "import ctypes; l=ctypes.CDLL(None); print('LEAK' if l.syscall(250 if '$MACHINE'=='x86_64' else 219,0,-3,1)!=-1 else '')"`,
    ],
    [
      'bpf',
      `python3 -c "import ctypes; l=ctypes.CDLL(None); print('LEAK' if l.syscall(321 if '$MACHINE'=='x86_64' else 280,0,0,0)!=-1 else '')"`,
    ],
    [
      'the old system calls',
      `python3 -c "import ctypes; l=ctypes.CDLL(None); print('LEAK' if l.syscall(0x40000000+39)!=-1 else '')"`,
    ],
    ['a terminal', 'ls -l /dev/tty /dev/pts/0 2>/dev/null; (echo x > /dev/tty) 2>/dev/null && echo LEAK'],
    ['devices of the machine', 'ls /dev/sda /dev/vda /dev/mem /dev/kmsg 2>/dev/null && echo LEAK'],
    ['a device of its own', 'mknod dev c 1 3 && echo LEAK; mknod /dev/x b 8 0 && echo LEAK'],
    ['the settings of the kernel', 'echo 1 > /proc/sys/kernel/panic && echo LEAK'],
    ['the host name', 'hostname leaked && echo LEAK; hostname | grep -v sandbox && echo LEAK'],
    ['shared memory of the host', 'ls /dev/shm | grep . && echo LEAK'],
    ['temporary files of the host', 'ls -A /tmp | grep -v "$(basename "$(dirname "$PWD")")" | grep . && echo LEAK'],
    ['the hooks of git', 'echo LEAK > .git/hooks/pre-commit && cat .git/hooks/pre-commit'],
    ['another directory for git', 'mv .git old && echo LEAK; rm -rf .git && echo LEAK'],
    ['the settings of the editor', 'echo LEAK > .vscode/tasks.json && cat .vscode/tasks.json'],
    ['the host by a signal', 'kill -9 $HOST && echo LEAK'],
    ['all processes by a signal', 'ls /proc | grep -c "^[0-9]" | grep -vE "^[0-9]$" && echo LEAK'],
  ]

  test.each(attacks)('holds against a command that wants %s', async (_, command) => {
    const { root, outside } = workspace({ '.git/hooks/sample': 'kept', '.vscode/settings.json': '{}' })
    process.env['TOOLWRIGHT_CANARY'] = canary
    const abstract = `toolwright-${randomUUID()}`
    const listening = createServer().listen(0, '127.0.0.1')
    const servers = [listening, createServer().listen(join(root, 'host.sock')), createServer().listen(`\0${abstract}`)]
    await Promise.all(servers.filter(({ listening: isReady }) => !isReady).map((server) => once(server, 'listening')))
    chmodSync(join(root, 'host.sock'), 0o777)
    const descriptor = openSync(join(outside, 'secret.txt'), 'r')
    onTestFinished(() => {
      delete process.env['TOOLWRIGHT_CANARY']
      for (const server of servers) server.close()
      closeSync(descriptor)
    })
    const { port } = listening.address() as { readonly port: number }
    const env = {
      OUTSIDE: outside,
      PORT: `${port}`,
      ABSTRACT: abstract,
      HOST: `${process.pid}`,
      MACHINE: process.arch === 'x64' ? 'x86_64' : 'aarch64',
    }
    const text = await said(root, command, { env })
    expect(text).not.toContain(canary)
    expect(text).not.toMatch(/^LEAK/m)
    expect(readdirSync(outside)).toEqual(['secret.txt'])
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(canary)
    expect(existsSync(join(root, '.git/hooks/sample'))).toBe(true)
  })

  test('commands that are ended while their sandboxes are set up leave nothing running', async () => {
    const mark = randomUUID()
    const sandbox = await walled(workspace().root)
    onTestFinished(() => end(withMark(mark)))
    const jobs = Array.from({ length: 40 }, async (_, index) => {
      const job = await sandbox.execBackground(`exec -a ${mark} sleep 300`)
      await new Promise((resolve) => setTimeout(resolve, (index % 20) * 5))
      await job.kill()
    })
    await Promise.all(jobs)
    await expect.poll(() => withMark(mark), { timeout: 20_000 }).toEqual([])
  })

  test('a variable of the host that only looks like that of a locale is not in the environment', async () => {
    vi.stubEnv('LC_SECRET', canary)
    vi.stubEnv('LC_TIME', 'C')
    onTestFinished(() => void vi.unstubAllEnvs())
    const text = await said(workspace().root, 'env; tr "\\0" "\\n" < /proc/1/environ')
    expect(text).toContain('LC_TIME=C')
    expect(text).not.toContain(canary)
  })

  test('a command that ends itself by a signal is told by 128 and its number, and without further words', async () => {
    const sandbox = await walled(workspace().root)
    const { exitCode, stderr } = await sandbox.exec('kill -SEGV $$')
    expect([exitCode, stderr.text]).toEqual([128 + 11, ''])
    expect(await sandbox.exec('kill -KILL $$')).toMatchObject({ exitCode: 128 + 9, stderr: { text: '' } })
    expect(await sandbox.exec('kill -TERM 0; sleep 300')).toMatchObject({ exitCode: null, signal: 'SIGTERM' })
  })

  test('a command that left its group ends with its shell', async () => {
    const mark = `mark-${randomUUID()}`
    await said(workspace().root, `setsid bash -c 'sleep 300; : ${mark}' > /dev/null 2>&1 & sleep 0.2`)
    await expect.poll(() => withMark(mark), { timeout: 20_000 }).toEqual([])
  })

  test('a bomb of processes is stopped by the limit', async () => {
    const text = await said(workspace().root, 'for i in $(seq 200); do sleep 2 & done; wait; echo end', {
      limits: { processes: 50 },
    })
    expect(text).toMatch(/Resource temporarily unavailable/)
  })

  test('files, memory and time are limited', async () => {
    const limits = { fileBytes: 1_048_576, memoryBytes: 500_000_000, cpuSeconds: 1 }
    const sandbox = await walled(workspace().root, { limits })
    expect((await sandbox.exec('head -c 2000000 /dev/zero > big; stat -c %s big')).stdout.text).toContain('1048576')
    expect((await sandbox.exec('python3 -c "b = bytearray(900000000)"')).stderr.text).toContain('MemoryError')
    expect((await sandbox.exec('while :; do :; done', { timeout: 30_000 })).timedOut).toBe(false)
  })

  test('what a command makes belongs to the user, and what a tool makes too', async () => {
    const { root } = workspace()
    const sandbox = await walled(root)
    await sandbox.writeFile('by/tool', new Uint8Array())
    expect((await sandbox.exec('touch by/command && chmod u+s by/command && echo more > by/tool')).stderr.text).toBe('')
    const uids = ['by', 'by/tool', 'by/command'].map((path) => statSync(join(root, path)).uid)
    expect(new Set(uids)).toEqual(new Set([user?.uid ?? process.getuid?.()]))
    expect(uids).not.toContain(0)
  })

  test('paths that the host names are there, to read or to write', async () => {
    const { root, outside } = workspace()
    const other = workspace({ f: 'old' }).root
    const sandbox = await walled(root, { readable: [outside], writable: [other] })
    const { stdout } = await sandbox.exec(`cat ${outside}/secret.txt; echo x > ${outside}/made; echo new > ${other}/f`)
    expect(stdout.text).toBe(canary)
    expect(existsSync(join(outside, 'made'))).toBe(false)
    expect(readFileSync(join(other, 'f'), 'utf8')).toBe('new\n')
  })

  test('a protected name that is a link to the host does not bring the host in', async () => {
    const { root, outside } = workspace()
    symlinkSync(outside, join(root, '.git'))
    expect(await said(root, 'cat .git/secret.txt')).not.toContain(canary)
  })

  test('the host reaches what it is told to, if it wants the network', async () => {
    const server = createServer((socket) => socket.end('hello from the host')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { readonly port: number }
    expect(await said(workspace().root, `cat < /dev/tcp/127.0.0.1/${port}`, { network: true })).toBe(
      'hello from the host',
    )
    server.close()
  })

  test('with the network, sockets of the file system and abstract ones stay closed, unless they are wanted', async () => {
    const { root } = workspace()
    const command = `python3 -c "import socket; socket.socket(socket.AF_UNIX); print('open')"; python3 -c "import socket; socket.socketpair(); print('pair')"`
    expect(await said(root, command, { network: true })).toMatch(/PermissionError[^]*|pair/)
    expect(await said(root, command, { network: true })).not.toMatch(/^open/m)
    expect(await said(root, command, { unixSockets: true })).toBe('open\npair\n')
  })

  test('programs work: git, python and node, if they are below /usr', async () => {
    const { root } = workspace()
    put(
      root,
      'main.py',
      'import subprocess, json; print(json.dumps(subprocess.run(["echo", "hi"], capture_output=True, text=True).stdout))',
    )
    expect(await said(root, 'python3 main.py')).toBe('"hi\\n"\n')
    expect(await said(root, 'git --version')).toContain('git version')
  })

  test('a ripgrep of the host is used within', async () => {
    const { root } = workspace({ a: 'needle\n' })
    const sandbox = await walled(root, { ripgrep: '/usr/bin/rg' })
    const query = { pattern: 'needle', ignoreCase: false, path: '.', hidden: false, context: 0 }
    for await (const match of sandbox.search?.(query) ?? []) expect(match.path).toBe('a')
  })
})

describe('bubblewrap is refused, and nothing weaker is made,', () => {
  test.each([
    ['if the program is missing', { program: '/nowhere/bwrap' }],
    ['if the program fails', { program: '/bin/false' }],
    ['if an option is unknown', { sandboxed: true }],
    ['if a path is relative', { readable: ['etc'] }],
    ['if a limit is unknown', { limits: { cpu: 1 } }],
    ['if a limit is no number', { limits: { processes: 0 } }],
    ['if the user is root', { user: { uid: 0, gid: 0 } }],
    ['if the root belongs to another', { user: { uid: 4_242, gid: 4_242 } }],
  ])('%s', async (_, options) => {
    const { root } = workspace()
    await expect(bubblewrap({ root, ...(user && { user }), ...options } as never)).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
    })
  })

  test('if this process is root, and no user is given', async (context) => {
    context.skip(user === undefined, 'this process is not root')
    const words = expect.stringContaining('as root')
    await expect(bubblewrap({ root: workspace().root })).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
      message: words,
    })
  })

  test('if bwrap says why it cannot run, with those words', async () => {
    const { root } = workspace()
    const program = join(root, 'bwrap')
    writeFileSync(program, '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n', {
      mode: 0o755,
    })
    await expect(bubblewrap({ root, program, ...(user && { user }) })).rejects.toThrow(
      /No permissions.*unprivileged_userns_clone/,
    )
  })
})
