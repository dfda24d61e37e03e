import { InvalidConfigurationError } from '../kernel/errors.ts'

/** Takes the place of the transport to a program. It refuses to start one. */
export class StdioClientTransport {
  constructor() {
    throw new InvalidConfigurationError(
      'A `command` needs a platform with processes, such as Node. Give the `url` of a server, or a `transport`.',
    )
  }
}
