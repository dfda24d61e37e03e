import { ArtifactError } from '../errors.ts'
import { isForbidden } from '../extension.ts'

/**
 * Loads the package `yaml`.
 *
 * @param what What needs it, as the beginning of a sentence.
 * @throws `E_ARTIFACT` if it is not installed.
 */
export async function loadYaml(what: string): Promise<typeof import('yaml')> {
  try {
    return await import('yaml') // in `try`, so that bundlers let the package be missing
  } catch (cause) {
    throw new ArtifactError(`${what} needs the package yaml (npm install yaml).`, { cause })
  }
}

/** Makes the error of a text that the package `yaml` has refused. */
export function yamlError(what: string, cause: unknown): ArtifactError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  // Deno asks for a permission when the package reads an environment variable.
  const words = isForbidden(cause) ? 'The package yaml lacks a permission' : `${what} cannot be read as YAML`
  return new ArtifactError(`${words}: ${reason.slice(0, 200)}`, { cause })
}
