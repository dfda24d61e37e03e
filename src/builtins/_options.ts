import type { OptionCheck } from '../extension.ts'

/** Takes names of files. */
export const listOfNames: OptionCheck = {
  expected: 'a list of names',
  accepts: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
}

/** Takes an environment. `environment` says which of its variables cannot be one. */
export const variables: OptionCheck = {
  expected: 'an object of strings',
  accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  isSecret: true,
}
