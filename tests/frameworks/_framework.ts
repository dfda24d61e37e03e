import { missing } from './_installed.ts'

/** Loads a framework, if it is installed. Without it, the tests that need it are skipped. */
export async function framework<Module>(load: () => Promise<Module>): Promise<Module> {
  return missing === undefined ? load() : ({} as Module)
}
