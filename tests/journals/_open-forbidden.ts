import { sqliteJournal } from 'toolwright/journals/sqlite'

// Opens a journal in a process that may not do everything, and prints what it said.
try {
  await sqliteJournal(process.argv[2]!).close()
  console.log('opened')
} catch (error) {
  console.log((error as Error).message)
}
