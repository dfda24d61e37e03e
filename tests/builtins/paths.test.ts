import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Sandbox } from 'toolwright/builtins/sandbox'
import { OutsideError } from 'toolwright/builtins/sandbox'
import { describe, expect, test } from 'vitest'
import { missing } from '../servers/bubblewrap.ts'
import { bytes, canary, local as opened, put, refusalOf, textOf, workspace } from './_workspace.ts'

const depth = '../'.repeat(12)

/** Paths that lead out, to what is no file, or nowhere. `ROOT` and `OUTSIDE` stand for the directories. */
const attacks: readonly string[] = [
  ['..', '../', '../outside/secret.txt', './../outside/secret.txt', 'a/../../outside/secret.txt', `${depth}etc/passwd`],
  [
    'OUTSIDE/secret.txt',
    '/etc/passwd',
    '/',
    '//etc/passwd',
    '/proc/self/environ',
    '/proc/self/root/etc/passwd',
    '/dev/zero',
  ],
  ['ROOT/../outside/secret.txt', 'ROOT/a/../../outside/secret.txt', 'ROOTx/secret.txt', 'ROOT-evil/secret.txt'],
  [
    'to-secret',
    'to-secret-relative',
    'to-outside/secret.txt',
    'to-outside/',
    'deep/to-outside/secret.txt',
    'chain',
    'chain-absolute',
  ],
  ['to-proc/environ', 'to-proc/root/etc/passwd', 'to-proc/cwd/package.json', 'to-fd/0', 'to-dev-zero', 'to-dev-fd/0'],
  ['to-root-slash/etc/passwd', 'up/outside/secret.txt', 'up/up/outside/secret.txt', 'a/up-two/outside/secret.txt'],
  ['loop', 'loop/x', 'loop-a', 'loop-self/x', 'dangling', 'dangling/x', 'pipe', 'pipe/', 'socket', 'to-pipe'],
  [
    '',
    '\0',
    'a\0b',
    'a.txt\0.png',
    '\ud800',
    'a/\udfff',
    'x'.repeat(256),
    'x/'.repeat(300),
    `${'a/'.repeat(3_000)}b`,
    '/'.repeat(5_000),
  ],
  [
    'file:///etc/passwd',
    '~/.ssh/id_rsa',
    '~root/.bashrc',
    '%2e%2e/outside/secret.txt',
    '..%2foutside/secret.txt',
    '..\\outside\\secret.txt',
  ],
  [
    'a.txt/',
    'a.txt/.',
    'a.txt/..',
    'a.txt/../a.txt',
    'a.txt/x',
    'a',
    'a/',
    '.',
    './',
    'a/..',
    'missing',
    'missing/../a.txt',
  ],
  [
    '．．/outside/secret.txt',
    '‥/outside/secret.txt',
    '.. /outside/secret.txt',
    ' ../outside/secret.txt',
    '...',
    '..;/outside/secret.txt',
  ],
].flat()

/** A workspace full of traps. */
function trapped(): { readonly root: string; readonly outside: string } {
  const { root, outside } = workspace({
    'a.txt': 'inside',
    'a/b.txt': 'inside too',
    'deep/c.txt': 'deep',
    'to-secret': '-> OUTSIDE',
    'to-secret-relative': '-> ../outside/secret.txt',
    chain: '-> chain-1',
    'chain-1': '-> chain-2',
    'chain-2': '-> ../outside/secret.txt',
    'to-proc': '-> /proc/self',
    'to-fd': '-> /proc/self/fd',
    'to-dev-zero': '-> /dev/zero',
    'to-dev-fd': '-> /dev/fd',
    'to-root-slash': '-> /',
    up: '-> ..',
    'a/up-two': '-> ../..',
    loop: '-> loop',
    'loop-a': '-> loop-b',
    'loop-b': '-> loop-a',
    'loop-self': '-> ./loop-self/x',
    dangling: '-> nowhere/at/all',
  })
  symlinkSync(join(outside, 'secret.txt'), join(root, 'to-absolute-secret'))
  symlinkSync(outside, join(root, 'to-outside'))
  symlinkSync(outside, join(root, 'deep/to-outside'))
  symlinkSync(join(outside, 'secret.txt'), join(root, 'chain-absolute'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  symlinkSync('pipe', join(root, 'to-pipe'))
  return { root, outside }
}

function placed(path: string, { root, outside }: { readonly root: string; readonly outside: string }): string {
  return path.replace('ROOT', root).replace('OUTSIDE', outside)
}

// Neither promise is about what is swapped meanwhile: that is for race.test.ts.
describe.each(['descriptor', 'real-path'] as const)('with `paths: %s`,', (safety) => {
  const local = (root: string): Promise<Sandbox> => opened(root, { paths: safety })

  describe('a path that leads out, or to no regular file', () => {
    test.each(attacks)('is refused when it is read: %j', async (attack) => {
      const place = trapped()
      const server = createServer().listen(join(place.root, 'socket'))
      const sandbox = await local(place.root)
      const said = await refusalOf(sandbox.readFile(placed(attack, place)))
      expect(said).not.toContain(canary)
      expect(said).not.toContain('/proc/self/fd')
      server.close()
    })

    test.each(attacks)('is refused when it is written, or writes within: %j', async (attack) => {
      const place = trapped()
      const sandbox = await local(place.root)
      await sandbox.writeFile(placed(attack, place), bytes('overwritten')).catch((error: unknown) => {
        expect((error as Error).name).toBe('ToolFailure')
      })
      expect(readFileSync(join(place.outside, 'secret.txt'), 'utf8')).toBe(canary)
      expect(readdirSync(place.outside)).toEqual(['secret.txt'])
      expect(readdirSync(join(place.root, '..')).toSorted()).toEqual(['outside', 'root'])
    })

    test.each(attacks)('shows nothing of the outside to stat and walk: %j', async (attack) => {
      const place = trapped()
      const sandbox = await local(place.root)
      const path = placed(attack, place)
      const status = await sandbox.stat(path).catch(() => null)
      const seen: string[] = []
      try {
        for await (const file of sandbox.walk(path)) seen.push(file.path)
      } catch (error) {
        expect((error as Error).name).toBe('ToolFailure')
      }
      expect(status?.size).not.toBe(canary.length)
      expect(seen.filter((each) => each.includes('secret') && !each.startsWith('to-'))).toEqual([])
    })

    test('is not followed by a walk: no link is', async () => {
      const place = trapped()
      const sandbox = await local(place.root)
      const seen: string[] = []
      for await (const { path } of sandbox.walk('.')) seen.push(path)
      expect(seen).toEqual(['a/b.txt', 'a.txt', 'deep/c.txt'])
    })
  })

  describe('within the workspace', () => {
    test.each([
      ['a.txt', 'inside'],
      ['./a.txt', 'inside'],
      ['a//b.txt', 'inside too'],
      ['a/../a.txt', 'inside'],
      ['ROOT/a.txt', 'inside'],
      ['link', 'inside'],
      ['link-absolute', 'inside'],
      ['dir-link/b.txt', 'inside too'],
      ['dir-link/../a.txt', 'inside'],
      ['deep/back', 'inside too'],
      ['~', 'tilde'],
      ['file:/x', 'plain'],
      ['name with\nnewline', 'odd'],
    ])('%j is read', async (path, text) => {
      const { root } = workspace({
        'a.txt': 'inside',
        'a/b.txt': 'inside too',
        link: '-> a.txt',
        'dir-link': '-> a',
        'deep/back': '-> ../a/b.txt',
        '~': 'tilde',
        'file:/x': 'plain',
        'name with\nnewline': 'odd',
      })
      symlinkSync(join(root, 'a.txt'), join(root, 'link-absolute'))
      const sandbox = await local(root)
      expect(await textOf(sandbox, path.replace('ROOT', root))).toBe(text)
    })

    test('a write goes through a link to the file that it names, and keeps the link', async () => {
      const { root } = workspace({ 'real/file': 'old', link: '-> real/file' })
      await (await local(root)).writeFile('link', bytes('new'))
      expect(readFileSync(join(root, 'real/file'), 'utf8')).toBe('new')
      expect(lstatSync(join(root, 'link')).isSymbolicLink()).toBe(true)
    })

    test('a write breaks a hard link, and leaves the other name as it was', async () => {
      const { root, outside } = workspace({ placeholder: '' })
      linkSync(join(outside, 'secret.txt'), join(root, 'hard'))
      await (await local(root)).writeFile('hard', bytes('new'))
      expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(canary)
      expect(readFileSync(join(root, 'hard'), 'utf8')).toBe('new')
    })

    test('a write keeps the mode, without what gives the rights of another user', async () => {
      const { root } = workspace({ 'run.sh': 'old' })
      chmodSync(join(root, 'run.sh'), 0o6755)
      await (await local(root)).writeFile('run.sh', bytes('new'))
      expect((statSync(join(root, 'run.sh')).mode & 0o7777).toString(8)).toBe('755')
    })

    test('missing directories are made, and nothing else is left behind', async () => {
      const { root } = workspace()
      const { created } = await (await local(root)).writeFile('a/b/c/d.txt', bytes('x'))
      expect(created).toBe(true)
      expect(readdirSync(join(root, 'a/b/c'))).toEqual(['d.txt'])
    })

    test('a file of 8 GiB without content is read in parts, and never at once', async () => {
      const { root } = workspace({ sparse: '' })
      truncateSync(join(root, 'sparse'), 8 * 2 ** 30)
      const sandbox = await local(root)
      expect(await refusalOf(sandbox.readFile('sparse'))).toContain('too many')
      const part = await sandbox.readFile('sparse', { start: 5 * 2 ** 30, end: 5 * 2 ** 30 + 4 })
      expect([...part.bytes, part.size]).toEqual([0, 0, 0, 0, 8 * 2 ** 30])
    })

    test.each([
      '.git/hooks/pre-commit',
      '.GIT/config',
      'sub/.git/config',
      '.envrc',
      '.vscode/tasks.json',
      '.mcp.json',
      '.bashrc',
      'link/config',
    ])('what the host obeys is never written: %s', async (path) => {
      const { root } = workspace({ '.git/config': 'kept', link: '-> .git' })
      const said = await refusalOf((await local(root)).writeFile(path, bytes('x')))
      expect(said).toContain('protected')
      expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe('kept')
      expect(existsSync(join(root, 'sub'))).toBe(false)
    })

    test('of two who make the same new file, one does', async () => {
      const { root } = workspace()
      const sandbox = await local(root)
      const made = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) => sandbox.writeFile('one', bytes(`${index}`), { expect: null })),
      )
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    test('no descriptor is left open', async () => {
      const place = trapped()
      const sandbox = await local(place.root)
      const open = (): number => readdirSync('/proc/self/fd').length
      await sandbox.readFile('a/b.txt')
      const before = open()
      for (const attack of attacks) {
        await sandbox.readFile(placed(attack, place)).catch(() => {})
        await sandbox.stat(placed(attack, place)).catch(() => {})
      }
      for await (const _ of sandbox.walk('.')) break
      await expect.poll(open, { timeout: 10_000 }).toBeLessThanOrEqual(before)
    })
  })

  describe.skipIf(missing !== undefined)('an oracle that sees nothing but the workspace', () => {
    const names = ['a', 'b', 'c', 'd']
    const name = fc.constantFrom(...names)
    const segment = fc.oneof({ weight: 6, arbitrary: name }, fc.constantFrom('..', '.', '', 'nothing'))
    const path = fc.array(segment, { minLength: 1, maxLength: 7 }).map((each) => each.join('/'))
    const entry = fc.record({
      at: fc.array(name, { minLength: 1, maxLength: 4 }),
      kind: fc.constantFrom('file', 'file', 'directory', 'link', 'absolute', 'link'),
      target: path,
    })

    test('reads the same of random trees, by random paths', async () => {
      const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
      console.log(`seed ${seed}`)
      let compared = 0
      let outside = 0
      await fc.assert(
        fc.asyncProperty(
          fc.array(entry, { minLength: 3, maxLength: 18 }),
          fc.array(path, { minLength: 40, maxLength: 40 }),
          async (tree, paths) => {
            const { root } = workspace()
            for (const { at, kind, target } of tree) build(root, at.join('/'), kind, target)
            const wanted = paths.filter((each) => each !== '' && !each.startsWith('/'))
            const answers = oracle(root, wanted)
            const sandbox = await local(root)
            for (const [index, each] of wanted.entries()) {
              const ours = await read(sandbox, each)
              compared++
              if (ours instanceof OutsideError) outside++
              else expect(ours, each).toBe(answers[index])
            }
          },
        ),
        { seed, numRuns: 60, endOnFailure: true },
      )
      console.log(`compared ${compared} paths, ${outside} of them led out`)
      expect(outside).toBeLessThan(compared / 2)
    })

    function build(root: string, at: string, kind: string, target: string): void {
      try {
        if (kind === 'directory') mkdirSync(join(root, at), { recursive: true })
        else if (kind === 'file') put(root, at, `content of ${at}`)
        else put(root, at, kind === 'absolute' ? `-> ${root}/${target}` : `-> ${target || '.'}`)
      } catch {
        // the tree has something else there already
      }
    }

    function oracle(root: string, paths: readonly string[]): string[] {
      const script =
        'while IFS= read -r path; do if [ -f "$path" ]; then printf "%s\\n" "$(cat -- "$path" 2>&-)"; else echo; fi; done'
      const binds = [
        '--ro-bind',
        '/usr',
        '/usr',
        '--symlink',
        'usr/bin',
        '/bin',
        '--symlink',
        'usr/lib',
        '/lib',
        '--symlink',
        'usr/lib64',
        '/lib64',
      ]
      const args = ['--unshare-all', ...binds, '--bind', root, root, '--chdir', root, '/bin/bash', '-c', script]
      const { stdout, status } = spawnSync('bwrap', args, { input: `${paths.join('\n')}\n`, encoding: 'utf8' })
      expect(status).toBe(0)
      return stdout.split('\n').slice(0, paths.length)
    }

    async function read(sandbox: Sandbox, each: string): Promise<string | OutsideError> {
      try {
        return await textOf(sandbox, each)
      } catch (error) {
        if (error instanceof OutsideError) return error
        expect((error as Error).name).toBe('ToolFailure')
        return ''
      }
    }
  })

  test('a full disk leaves the old file whole, and nothing beside it', async (context) => {
    context.skip(process.getuid?.() !== 0, 'only root may mount a small disk')
    const { root } = workspace()
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', root])
    try {
      writeFileSync(join(root, 'old'), 'whole')
      const sandbox = await local(root)
      expect(await refusalOf(sandbox.writeFile('old', new Uint8Array(200_000)))).toContain('full')
      expect(readdirSync(root)).toEqual(['old'])
      expect(readFileSync(join(root, 'old'), 'utf8')).toBe('whole')
      await sandbox.close()
    } finally {
      execFileSync('umount', ['-l', root])
    }
  })
})
