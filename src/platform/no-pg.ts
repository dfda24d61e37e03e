import { InvalidConfigurationError } from '../kernel/errors.ts'

class Pool {
  constructor() {
    throw new InvalidConfigurationError(
      'A connection string needs a platform with sockets, such as Node. Give a pool of your own instead.',
    )
  }
}

/** Takes the place of the package pg where it cannot run. It refuses to open connections. */
const pg: { readonly Pool: typeof Pool } = { Pool }
export default pg
