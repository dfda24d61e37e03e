import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

/** Each optional package, what asks for it, and what is said if it is not there. */
const packages: readonly (readonly [name: string, leaf: string, Class: string, text: string, words: RegExp])[] = [
  ['yaml', 'yaml', 'YamlArtifact', 'a: 1', /^YAML needs the package yaml \(npm install yaml\)\.$/],
  ['json5', 'json', 'Json5Artifact', '{a: 1}', /JSON5 needs the package json5 \(npm install json5\)\.$/],
  ['saxes', 'xml', 'XmlArtifact', '<a/>', /^XML needs the package saxes \(npm install saxes\)\.$/],
  ['acorn', 'ecmascript', 'EcmaScriptArtifact', 'a', /^ECMAScript needs the package acorn \(npm install acorn\)\.$/],
  [
    '@toon-format/toon',
    'toon',
    'ToonArtifact',
    'a: 1',
    /^TOON needs the package @toon-format\/toon \(npm install @toon-format\/toon\)\.$/,
  ],
]

/** Runs a program in which one package cannot be found, as if it were not installed. */
async function without(name: string, program: string): Promise<string> {
  const hooks = `import { registerHooks } from 'node:module'
registerHooks({ resolve(specifier, context, next) {
  if (specifier !== ${JSON.stringify(name)}) return next(specifier, context)
  throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' })
} })`
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, '-C', '@toolwright/source']
  const run = [...flags, '--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, run, { cwd: import.meta.dirname })
  return stdout
}

describe('without an optional package', () => {
  test.concurrent.each(packages)(
    'that is %s, toolwright/artifacts/%s says which to install, and lines are read all the same',
    async (name, leaf, Class, text, words) => {
      const program = `
import { ${Class} } from 'toolwright/artifacts/${leaf}'
const bytes = new TextEncoder().encode(${JSON.stringify(text)})
const artifact = new ${Class}({ reader: { byteLength: bytes.length, read: (start, end) => bytes.subarray(start, end) } })
const ask = 'value' in artifact ? 'value' : 'functions'
const error = await artifact[ask]().catch((error) => error)
console.log(JSON.stringify({ code: error.code, message: error.message, line: await artifact.head(1) }))`
      const said = JSON.parse(await without(name, program)) as { code: string; message: string; line: string }
      expect(said).toMatchObject({ code: 'E_ARTIFACT', line: text })
      expect(said.message).toMatch(words)
    },
    60_000,
  )
})
