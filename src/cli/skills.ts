import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { UsageError, type Command } from './arguments.ts'
import { hasFile, writeNew } from './files.ts'
import { printText } from './host.ts'

/** `toolwright skills`: copies the skills for coding agents into a folder. */
export const skillsCommand: Command = {
  name: 'skills',
  help: `\
Usage: toolwright skills --into <folder>

Copies the skills for coding agents, each as <folder>/<name>/SKILL.md. Asks nothing, and
leaves files that are equal. If another file is there, it is named, and nothing is written.

  --into FOLDER     the folder in which your agent looks for skills, such as .claude/skills
  -h, --help`,
  options: { into: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  takes: [0, 0],

  async perform(options, host) {
    const into = options.text('into') ?? ''
    if (into === '') throw new UsageError('--into is missing: the folder in which your agent looks for skills.')
    const folder = resolve(into)
    const files = await Promise.all(
      (await packagedSkills()).map(async ({ file, text }) => ({
        file,
        text,
        state: await stateOf(folder, file, text),
      })),
    )

    const changed = files.filter(({ state }) => state === 'changed').map(({ file }) => file)
    if (changed.length > 0) {
      const [are, them] = changed.length === 1 ? ['is', 'It'] : ['are', 'They']
      throw new UsageError(
        `${changed.join(' and ')} in ${folder} ${are} not as in this version, and skills overwrites nothing. ${them} may move, or name another folder.`,
      )
    }
    const missing = files.filter(({ state }) => state === 'missing')
    for (const { file, text } of missing) await writeNew(join(folder, file), text)

    const equal = files.length - missing.length
    const written = missing.map(({ file }) => `Written: ${join(into, file)}\n`)
    await printText(
      host.stdout,
      written.join('') + (equal > 0 ? `Left as they are: ${equal} of ${files.length}\n` : ''),
    )
    return 0
  },
}

/** A skill of this package: its path in a folder of skills, and its text. */
interface PackagedSkill {
  readonly file: string
  readonly text: string
}

async function packagedSkills(): Promise<readonly PackagedSkill[]> {
  const folder = join(dirname(createRequire(import.meta.url).resolve('toolwright/package.json')), 'src', 'skills')
  const files = (await readdir(folder)).toSorted().map((name) => join(name, 'SKILL.md'))
  return Promise.all(files.map(async (file) => ({ file, text: await readFile(join(folder, file), 'utf8') })))
}

/** Compares a file with the text that it would get. @throws {UsageError} if it cannot be read. */
async function stateOf(folder: string, file: string, text: string): Promise<'missing' | 'equal' | 'changed'> {
  if (!(await hasFile(folder, file))) return 'missing'
  try {
    return (await readFile(join(folder, file), 'utf8')) === text ? 'equal' : 'changed'
  } catch {
    return 'changed' // a folder, or a link that leads nowhere
  }
}
