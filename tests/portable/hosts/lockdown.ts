// Freezes the intrinsics, as programs do that run the code of others.
declare function lockdown(options: object): void

/** Installed where this runs, and not where it is compiled. */
export const ses: string = 'ses'
await import(ses)
lockdown({
  errorTaming: 'unsafe',
  consoleTaming: 'unsafe',
  domainTaming: 'unsafe',
  evalTaming: 'unsafe-eval',
  overrideTaming: 'moderate',
})
