import { fileStore } from 'toolwright/stores/file'

// Writes in a process that may not, and prints what the store said.
const { store } = fileStore(process.argv[2]!)
await store
  .write('text', { session: 'one', mediaType: 'text/plain' })
  .catch(({ code, message }: Error & { code: string }) => {
    console.log(`${code} ${message}`)
  })
