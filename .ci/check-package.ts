// Packs the package as it would be published, and asks publint and attw about it; attw has to be told the entries that
// the wildcards of `exports` stand for.
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The places of the sources that each entry of `exports` stands for. */
const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly '@toolwright/source': string }>>
}
const leaves = Object.entries(exports).flatMap(([entry, place]) => {
  if (typeof place === 'string' || entry === '.') return []
  const [before = '', after = ''] = place['@toolwright/source'].slice(2).split('*')
  if (!entry.endsWith('/*')) return [entry]
  const files = globSync(`${before}*${after}`).map((file) => file.slice(before.length, -after.length))
  return files.filter((name) => !name.startsWith('_')).map((name) => entry.replace('*', name))
})

function run(command: string, ...parameters: string[]): string {
  return execFileSync(command, parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Installs the package where nothing else is: npm may warn of nothing, and a program has to find it. */
function install(tarball: string, cwd: string): void {
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }')
  const ask = (command: string, ...parameters: string[]): { stdout: string; stderr: string } =>
    spawnSync(command, parameters, { cwd, encoding: 'utf8' })
  // What npm warns of on this machine, whatever it does, is not the package's fault.
  const usual = ask('npm', 'ls').stderr
  const { stderr } = ask('npm', 'install', '--no-audit', '--no-fund', tarball)
  const warnings = stderr.split('\n').filter((line) => !usual.includes(line))
  const program = "import { createExecutor } from 'toolwright'; console.log(createExecutor().tools())"
  const used = ask(process.execPath, '--input-type=module', '--eval', program)
  process.stdout.write(`npm install: ${warnings.length} warnings\n`)
  if (warnings.length === 0 && used.stdout === '[]\n') return
  process.stdout.write(`${[...warnings, used.stdout, used.stderr].join('\n')}\n`)
  process.exitCode = 1
}

/** Builds the package. A type that a declaration needs and no entry exports cannot be named by programs: TypeScript refuses them. */
function build(): void {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
  const unnamed = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('no public re-export'))
  if (unnamed.length > 0) throw new Error(unnamed.join('\n'))
}

build()
const folder = mkdtempSync(join(tmpdir(), 'toolwright-package-'))
try {
  // Built above: packing would build again, and say so where the name of the file is read.
  const packed = run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', folder)
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  const tarball = join(folder, filename)
  install(tarball, join(folder, 'application'))
  process.stdout.write(run('npx', 'publint', 'run', tarball, '--strict'))
  // Its exit code counts what it ignores too, and a pipe would lose the end of its answer: a file is read instead.
  const answer = join(folder, 'attw.json')
  const parameters = ['attw', tarball, '--format', 'json', '--entrypoints', '.', ...leaves]
  spawnSync('npx', parameters, { stdio: ['ignore', openSync(answer, 'w'), 'inherit'] })
  const { problems } = JSON.parse(readFileSync(answer, 'utf8')) as {
    problems: Record<string, { resolutionKind?: string; resolutionOption?: string }[]>
  }
  // The package is for those who can import it.
  const ours = Object.values(problems)
    .flat()
    .filter(({ resolutionKind, resolutionOption }) => !/^node10$|cjs$/.test(resolutionKind ?? resolutionOption ?? ''))
  process.stdout.write(`attw: ${leaves.length + 1} entries, ${ours.length} problems\n`)
  if (ours.length > 0) {
    process.stdout.write(`${JSON.stringify(ours, undefined, 2)}\n`)
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true })
}
