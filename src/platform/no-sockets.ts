import { InvalidConfigurationError } from '../kernel/errors.ts'

/** Takes the place of the server of `node:http`. It refuses to listen. */
export function listen(): Promise<never> {
  const error = new InvalidConfigurationError(
    '`listen` needs a platform with sockets, such as Node. Mount `http().fetch` in the server of your platform.',
  )
  return Promise.reject(error)
}
