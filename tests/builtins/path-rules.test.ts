import { posix, win32 } from 'node:path'
import { OutsideError } from 'toolwright/builtins/sandbox'
import { describe, expect, test } from 'vitest'
import { namesOfTarget, pathNames } from '../../src/builtins/_path.ts'
import { belowRoot, byteRules, isRootOfAll, unixRules, windowsRules } from '../../src/builtins/_path-rules.ts'
import { requireProcessGroups } from '../../src/builtins/_shell.ts'

describe('a path of Windows', () => {
  const roots = ['C:\\Work\\ws', 'c:\\link-to-ws']
  const names = (path: string): string[] => pathNames(path, roots, windowsRules)

  test.each([
    ['a\\b.txt', ['a', 'b.txt']],
    ['a/b.txt', ['a', 'b.txt']],
    ['.\\a\\.\\b', ['a', 'b']],
    ['C:\\Work\\ws\\a', ['a']],
    ['c:/work/WS/A', ['A']],
    ['C:\\LINK-to-ws\\a', ['a']],
    ['C:\\Work\\ws', ['.']],
    ['C:\\Work\\ws\\', ['.']],
    ['a\\', ['a', '.']],
    ['..\\outside', ['..', 'outside']],
    ['C:\\Work\\ws\\..\\outside', ['..', 'outside']],
    ['a\\..\\..\\outside', ['a', '..', '..', 'outside']],
  ])('%j has the names %j', (path, expected) => {
    expect(names(path)).toEqual(expected)
  })

  test.each([
    'C:\\Work\\wsx\\a',
    'C:\\Work',
    'D:\\Work\\ws\\a',
    'C:a',
    'C:',
    'c:..\\outside',
    'a:stream',
    '\\Work\\ws\\a',
    '/Work/ws/a',
    '\\\\server\\share\\a',
    '//server/share/a',
    '\\\\?\\C:\\Work\\ws\\a',
    '\\\\.\\C:\\Work\\ws\\a',
    '//./pipe/docker_engine',
    '\\\\.\\PhysicalDrive0',
    '\\??\\C:\\Work\\ws\\a',
    '\\\\?\\UNC\\server\\share\\a',
    '\\\\localhost\\C$\\Work\\ws\\a',
  ])('%j is outside', (path) => {
    expect(() => names(path)).toThrow(OutsideError)
    expect(() => namesOfTarget(path, roots, 'link', windowsRules)).toThrow(OutsideError)
  })

  test.each([
    ['a.txt:s', /stream/],
    ['a.txt::$DATA', /stream/],
    ['.git::$INDEX_ALLOCATION', /stream/],
    ['CON', /device/],
    ['nul', /device/],
    ['NUL.txt', /device/],
    ['nul.tar.gz', /device/],
    ['Aux .txt', /device/],
    ['COM1', /device/],
    ['lpt9.log', /device/],
    ['COM\u00b9', /device/],
    ['lpt\u00b3.txt', /device/],
    ['CONIN$', /device/],
    ['conout$.x', /device/],
    ['CLOCK$', /device/],
    ['a.txt.', /dot or a space/],
    ['a.txt ', /dot or a space/],
    ['.git.', /dot or a space/],
    ['.git ', /dot or a space/],
    ['... ', /dot or a space/],
    ['...', /dot or a space/],
    ['.. ', /dot or a space/],
    ['GIT~1', /short form/],
    ['git~1', /short form/],
    ['PROGRA~1', /short form/],
    ['LONGNA~2.TXT', /short form/],
    ['GI7EBA~1', /short form/],
    ['a*', /character/],
    ['a?', /character/],
    ['a|b', /character/],
    ['<a>', /character/],
    ['a"', /character/],
    ['a\tb', /character/],
    ['a\nb', /character/],
  ])('%j names no file of its own', (name, reason) => {
    expect(() => windowsRules.requireName(name, `in/${name}`)).toThrow(reason)
    expect(() => windowsRules.requireLocal(`C:\\other\\${name}`)).toThrow(reason)
  })

  test.each([
    'a.txt',
    '.git',
    '.env',
    'console',
    'com',
    'COM10',
    'nullable.ts',
    'lpt',
    'auxiliary.c',
    'a b.txt',
    ' a',
    'file~',
    '~1',
  ])('%j is a plain name', (name) => {
    expect(() => windowsRules.requireName(name, name)).not.toThrow()
    expect(() => windowsRules.requireLocal(`C:\\other\\${name}`)).not.toThrow()
  })

  test.each(['\\\\server\\share\\a', '\\\\?\\C:\\a', '\\\\.\\pipe\\x', '//server/share', 'C:a', '\\a'])(
    '%j is not even looked at',
    (path) => {
      expect(() => windowsRules.requireLocal(path)).toThrow(/another machine|no whole path/)
    },
  )

  test('on a share is within it, in any case of its letters', () => {
    const share = ['\\\\server\\share\\ws']
    expect(pathNames('\\\\SERVER\\Share\\WS\\a\\b', share, windowsRules)).toEqual(['a', 'b'])
    expect(() => pathNames('\\\\server\\share\\other', share, windowsRules)).toThrow(OutsideError)
    expect(() => pathNames('\\\\server\\other\\ws\\a', share, windowsRules)).toThrow(OutsideError)
  })

  test('is joined to a path that Windows takes for the same', () => {
    for (const path of ['a/b', 'A\\b\\..\\c', 'C:\\Work\\ws\\x']) {
      const joined = win32.join('C:\\Work\\ws', ...names(path))
      expect(joined.startsWith('C:\\Work\\ws\\')).toBe(true)
      expect(belowRoot(joined, 'C:\\Work\\ws', windowsRules)).not.toBeUndefined()
    }
  })
})

describe('a path of macOS', () => {
  const roots = ['/private/var/Größe/ws', '/var/Größe/ws']

  test.each([
    ['/private/var/Größe/ws/a', ['a']],
    ['/var/Größe/ws/a', ['a']],
    ['/VAR/GRO\u0308ßE/WS/a', ['a']],
    ['/var/Gro\u0308ße/ws/', ['.']],
    ['a\\b', ['a\\b']],
  ])('%j has the names %j, if the file system knows no case', (path, expected) => {
    expect(pathNames(path, roots, unixRules(false))).toEqual(expected)
  })

  test('is outside in another spelling, if the file system tells them apart', () => {
    expect(() => pathNames('/VAR/Größe/WS/a', roots, unixRules(true))).toThrow(OutsideError)
    expect(() => pathNames('/var/Gro\u0308ße/ws/a', roots, unixRules(true))).toThrow(OutsideError)
  })

  test.each(['/var/Größe/wsx', '/var/Größe', '/', '/private/var/other', '/var'])('%j is outside', (path) => {
    for (const isSensitive of [true, false]) {
      expect(() => pathNames(path, roots, unixRules(isSensitive))).toThrow(OutsideError)
    }
  })
})

test.each([
  ['.git', '.GIT'],
  ['.git', '.g\u200dit'],
  ['.git', '\ufeff.git'],
  ['.git', '．ｇｉｔ'],
  ['.vscode', '.v\u017fcode'],
  ['.bashrc', '.BASHRC'],
])('%j and %j are one protected name', (name, other) => {
  for (const { broadFold } of [windowsRules, unixRules(true)]) expect(broadFold(other)).toBe(broadFold(name))
})

test('the root of a file system is known for what it is', () => {
  expect(['/', '/a'].map((path) => isRootOfAll(path, byteRules))).toEqual([true, false])
  const paths = ['C:\\', 'C:\\a', '\\\\server\\share\\', '\\\\server\\share', '\\\\server\\share\\a']
  expect(paths.map((path) => isRootOfAll(path, windowsRules))).toEqual([true, false, true, true, false])
})

test('what follows a root is told with slashes, on every platform', () => {
  expect(belowRoot('/ws/a/b', '/ws', byteRules)).toBe(posix.join('a', 'b'))
  expect(belowRoot('/ws', '/ws', byteRules)).toBe('.')
  expect(belowRoot('/a', '/', byteRules)).toBe('a')
  expect(belowRoot('/wsx', '/ws', byteRules)).toBeUndefined()
  expect(belowRoot('C:\\ws\\a\\b', 'c:\\WS', windowsRules)).toBe('a/b')
})

test('commands are refused on Windows, with what to do, and nowhere else', () => {
  expect(() => requireProcessGroups('win32')).toThrow(/no commands on Windows/)
  for (const platform of ['linux', 'darwin']) expect(() => requireProcessGroups(platform)).not.toThrow()
})
