import type { Commands } from './_commands.ts'
import { RootFiles } from './_files.ts'
import { grantOf, outsideOf } from './_grants.ts'
import type { DirectoryRoot } from './_root.ts'
import type { Sandbox } from './sandbox.ts'

/** Returns what the sandboxes of this machine share: files below a root, and commands. */
export function sandboxOver(
  root: DirectoryRoot,
  commands: Commands,
  protect: readonly string[],
): Omit<Sandbox, 'name' | 'isolation' | 'search'> {
  const files = new RootFiles(root, protect)
  return {
    root: root.path,
    paths: root.paths,
    readFile: (path, range) => files.readFile(path, range),
    writeFile: (path, bytes, write) => files.writeFile(path, bytes, write),
    stat: (path) => files.stat(path),
    identify: (path) => files.identify(path),
    walk: (path, walk) => files.walk(path, walk),
    exec: (command, exec) => commands.exec(command, exec),
    execBackground: (command, exec) => commands.execBackground(command, exec),
    outside: (path) => outsideOf(root, path),
    grant: (path, { write }) => grantOf(root, path, write, protect),
    async close() {
      await commands.close()
      await root.close()
    },
  }
}
