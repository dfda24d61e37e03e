import { createExecutor } from 'toolwright'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cancellable } from '../distributed/_fleet.ts'
import { changed, places } from './_journals.ts'

describe.each(places)('a call that another executor asks to cancel, with a journal in %s,', (_, newPlace) => {
  test.each([
    ['while it runs: at once, as its owner watches', true],
    ['before its owner watches: as the watch begins', false],
  ])('is cancelled %s', async (_when, isWatched) => {
    const { tools, started, aborted } = cancellable()
    const [watched, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let mayCancel = false
    const place = newPlace()
    const journal = changed(place.open(), {
      watch: (own) => (listener) => {
        watched.resolve()
        if (!isWatched) mayCancel = true
        return (
          own.watch?.((id, session, change) => {
            if (isWatched) mayCancel ||= change === 'cancelled'
            listener(id, session, change)
          }) ?? (() => {})
        )
      },
      // A sign of life alone cancels nothing: without a watch the call would run for ever.
      beat: (own) => async (owner) => {
        if (!isWatched) await asked.promise
        const ids = await own.beat(owner)
        return mayCancel ? ids : []
      },
    })
    const owner = createExecutor({ tools, use: [journal] })
    const other = createExecutor({ tools, use: [place.open()] })
    onTestFinished(async () => void (await Promise.all([owner.close(), other.close()])))
    const running = owner.execute({ name: 'wait' }, { session: 's', invocationId: 'a' })
    await started
    if (isWatched) await watched.promise
    expect(await other.calls.cancel('a')).toBe('asked')
    asked.resolve()
    await aborted
    expect(await running).toMatchObject({ status: 'cancelled', effect: 'unknown' })
  })
})
