import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'

/** What a runner knows of a test: its name, and the groups around it. */
export interface TestTask {
  readonly name: string
  readonly suite?: TestTask | undefined
  readonly file: TestFile
}

interface TestFile {
  readonly filepath: string
  readonly tasks: readonly object[]
}

const longestSlug = 80

/**
 * Returns the path of the tape of a test, beside its file. Tests of equal names, as a table of tests may have, get a number.
 *
 * @param folder The folder beside the test's file.
 */
export function pathOfTest(task: TestTask, folder: string): string {
  const name = nameOfTest(task)
  const equals = testsIn(task.file.tasks).filter((other) => nameOfTest(other) === name)
  const place = equals.indexOf(task)
  const slug = name.replaceAll(/[^\p{L}\p{N}.-]+/gu, '-').slice(0, longestSlug)
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const { filepath } = task.file
  return join(dirname(filepath), folder, basename(filepath), `${slug}-${hash}${place > 0 ? `-${place + 1}` : ''}.jsonl`)
}

function nameOfTest({ name, suite }: TestTask): string {
  return suite === undefined || suite.name === '' ? name : `${nameOfTest(suite)} > ${name}`
}

/** Returns all tests of a file, in order. */
function testsIn(tasks: readonly object[]): readonly TestTask[] {
  return tasks.flatMap((task) => {
    const inner = (task as { readonly tasks?: readonly object[] }).tasks
    return inner === undefined ? [task as TestTask] : testsIn(inner)
  })
}
