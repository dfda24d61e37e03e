import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { UsageError, type Command, type CommandLine } from './arguments.ts'
import { hasFile, writeNew } from './files.ts'
import { note, printText } from './host.ts'
import { loopFile, providers } from './init/_loop.ts'
import { aiSdkFile, browserServerFile, mcpServerFile, pageFile } from './init/_programs.ts'
import { testFile, toolsFile, validators } from './init/_tools.ts'

/** The files of a template, and the program to start among them. */
interface Template {
  readonly program: string
  /** The packages with the versions that the package of this command takes no part in. */
  readonly packages: Readonly<Record<string, string | undefined>>
  readonly hasProvider: boolean
  files(provider: string): Readonly<Record<string, string>>
}

const templates: Readonly<Record<string, Template>> = {
  loop: {
    program: 'agent.ts',
    packages: {},
    hasProvider: true,
    files: (provider) => ({ 'agent.ts': loopFile(provider, chosen('provider', providers, provider)) }),
  },
  'ai-sdk': {
    program: 'agent.ts',
    packages: { ai: '^7.0.0' },
    hasProvider: true,
    files: (provider) => ({ 'agent.ts': aiSdkFile(provider) }),
  },
  'mcp-server': {
    program: 'server.ts',
    packages: { '@modelcontextprotocol/server': undefined },
    hasProvider: false,
    files: () => ({ 'server.ts': mcpServerFile }),
  },
  browser: {
    program: 'server.ts',
    packages: {},
    hasProvider: false,
    files: () => ({ 'server.ts': browserServerFile, 'page/index.html': pageFile }),
  },
}

/** The manifest of this package: its version, and the versions of other packages that it goes with. */
interface Manifest {
  readonly version: string
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** `toolwright init`: writes the files of a first program into a folder. */
export const initCommand: Command = {
  name: 'init',
  help: `\
Usage: toolwright init [folder] [options]

Writes tools, a program that uses them and a test into a folder (default: this one),
and a package.json if there is none. Asks nothing, and overwrites nothing.

  --template NAME   ${Object.keys(templates).join(', ')} (default loop)
  --provider NAME   ${Object.keys(providers).join(', ')}
                    (default anthropic; for loop and ai-sdk)
  --validator NAME  ${Object.keys(validators).join(', ')} (default zod)
  -h, --help`,
  options: {
    template: { type: 'string' },
    provider: { type: 'string' },
    validator: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
  takes: [0, 1],

  async perform(options, host) {
    const { template, provider, validator } = choicesOf(options)
    const folder = resolve(options.positionals[0] ?? '.')
    const files = {
      'tools.ts': toolsFile(validator),
      ...template.files(provider),
      'tools.test.ts': testFile,
    }
    const manifest = createRequire(import.meta.url)('toolwright/package.json') as Manifest
    const packages = packagesOf(template, validator.packages, manifest)

    const existing = await existingOf(folder, Object.keys(files))
    if (existing.length > 0) {
      const them = existing.length === 1 ? 'It' : 'They'
      throw new UsageError(
        `${folder} already has ${existing.join(' and ')}, and init overwrites nothing. ${them} may move, or name another folder.`,
      )
    }
    const isNew = (await existingOf(folder, ['package.json'])).length === 0
    const all = isNew ? { ...files, 'package.json': packageFile(basename(folder), template.program, packages) } : files
    for (const [name, text] of Object.entries(all)) await writeNew(join(folder, name), text)

    const install = isNew ? 'npm install' : `npm install ${Object.keys(packages).join(' ')}`
    const steps = [...(options.positionals.length > 0 ? [`cd ${options.positionals[0]}`] : []), install]
    await printText(
      host.stdout,
      `Written: ${Object.keys(all).join(', ')}\n\nThen:\n${[...steps, `node ${template.program}`, 'node --test'].map((step) => `  ${step}\n`).join('')}`,
    )
    if (!isNew) note(host, 'package.json is as it was. Node reads these files fastest with "type": "module" in it.')
    return 0
  },
}

interface Choices {
  readonly template: Template
  readonly provider: string
  readonly validator: (typeof validators)[string]
}

/** @throws {UsageError} if an option names what is not there. */
function choicesOf(options: CommandLine): Choices {
  const template = chosen('template', templates, options.text('template') ?? 'loop')
  const provider = options.text('provider')
  if (provider !== undefined && !template.hasProvider) {
    throw new UsageError('--provider goes with --template loop or ai-sdk: the others ask no model.')
  }
  if (provider !== undefined) chosen('provider', providers, provider)
  const validator = chosen('validator', validators, options.text('validator') ?? 'zod')
  return { template, provider: provider ?? 'anthropic', validator }
}

function chosen<Choice>(option: string, choices: Readonly<Record<string, Choice>>, name: string): Choice {
  const choice = Object.hasOwn(choices, name) ? choices[name] : undefined
  if (choice !== undefined) return choice
  throw new UsageError(`There is no ${option} "${name}". Known are ${Object.keys(choices).join(', ')}.`)
}

/** The packages to install, with their versions. */
function packagesOf(template: Template, ofValidator: readonly string[], manifest: Manifest): Record<string, string> {
  const others = { ...template.packages, ...Object.fromEntries(ofValidator.map((name) => [name, undefined])) }
  const versions = Object.entries(others).map(([name, version]) => [
    name,
    version ?? manifest.peerDependencies[name] ?? '*',
  ])
  return { toolwright: `^${manifest.version}`, ...Object.fromEntries(versions) }
}

function packageFile(folder: string, program: string, dependencies: Record<string, string>): string {
  const name = folder.toLowerCase().replace(/^[._]+|[^a-z0-9._-]+/g, '') || 'agent'
  const scripts = { start: `node ${program}`, test: 'node --test' }
  return `${JSON.stringify({ name, private: true, type: 'module', scripts, dependencies }, null, 2)}\n`
}

/** The files of these that are there. @throws {UsageError} if the folder is a file, or cannot be read. */
async function existingOf(folder: string, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map(async (name) => ((await hasFile(folder, name)) ? [name] : [])))
  return found.flat()
}
