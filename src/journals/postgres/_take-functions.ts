import { mayRunAlone, mayRunBeside, mayRunNow, type SessionRows } from '../_columns.ts'
import type { JournalTables } from './_tables.ts'

/**
 * Leads the server to the index of the calls that have a place in the order of their session. It plans without the value of a
 * subquery, so that it cannot use an index of all calls that wait: it would read each of them for each that is taken. `OFFSET 0`
 * keeps it from reading a session whole for a join.
 */
export const placeInLine: Pick<SessionRows, 'waiting' | 'running' | 'end'> = {
  waiting: `other.alone IN (0, 1) AND other.state = (SELECT 'waiting'::text)`,
  running: `other.state = (SELECT 'running'::text)`,
  end: 'OFFSET 0',
}

/**
 * The functions that take calls. Their plans are kept, since making one costs more than all the rest. They may not depend on how many
 * calls there were when they were made: no plan reads the table from its beginning, or sorts.
 */
export function takeFunctions({ calls, take, takeEach }: Pick<JournalTables, 'calls' | 'take' | 'takeEach'>): string {
  const lockOf = (call: string): string => `hashtextextended('${calls} ' || ${call}.session, 0)`
  const waitsForWorker = `call.waits = 'worker' AND call.expires_at >= now_at`
  /** The same, of calls that are found by their ids and not by the index of a queue. */
  const isTakeable = `call.waits = (SELECT 'worker'::text) AND call.expires_at >= now_at`
  const isNotExcepted = (call: string): string =>
    `${call}.id <> ALL (passed) AND coalesce(${call}.fingerprint, '') <> ALL (lacked)`
  const counted = { ...placeInLine, counts: isNotExcepted('other') }
  const plans = 'SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off'
  const takeOver = (which: string, mayRun: string): string => `
      RETURN QUERY UPDATE ${calls} AS call SET owner = taker, held_since = call.version + 1, version = call.version + 1,
        updated_at = clock_timestamp(), state = 'running', waits = NULL, queue = NULL, expires_at = NULL
      WHERE ${which} AND ${isTakeable} AND ${mayRun}
      RETURNING call.id, call.record, call.owner, call.version;`
  return `
    CREATE OR REPLACE FUNCTION ${takeEach}(taker text, now_at float8, ids text[])
      RETURNS TABLE (id text, record text, owner text, version integer)
      LANGUAGE plpgsql ${plans} AS $take$
    #variable_conflict use_column
    DECLARE
      found_session record;
      found_alone text;
      has_alone boolean := false;
    BEGIN
      -- Takers of one session wait for each other, all in one order. What others took is seen afterwards.
      FOR found_session IN
        SELECT ${lockOf('call')} AS lock, max(call.alone) AS alone FROM ${calls} AS call
        WHERE call.id = ANY (ids) AND ${isTakeable} GROUP BY 1 ORDER BY 1
      LOOP
        IF found_session.alone = 1 THEN
          has_alone := true;
          PERFORM pg_advisory_xact_lock(found_session.lock);
        ELSE
          PERFORM pg_advisory_xact_lock_shared(found_session.lock);
        END IF;
      END LOOP;
      ${takeOver('call.id = ANY (ids) AND call.alone IS DISTINCT FROM 1', mayRunBeside(calls, 'now_at', placeInLine))}
      IF has_alone THEN
        FOR found_alone IN
          SELECT call.id FROM ${calls} AS call WHERE call.id = ANY (ids) AND call.alone = 1
          ORDER BY call.created_at, call.changed, call.id
        LOOP
          ${takeOver('call.id = found_alone AND call.alone = 1', mayRunAlone(calls, 'now_at', placeInLine))}
        END LOOP;
      END IF;
    END $take$;
    CREATE OR REPLACE FUNCTION ${take}(taker text, now_at float8, one text, line text, passed text[], most integer, lacked text[])
      RETURNS TABLE (id text, record text, owner text, version integer)
      LANGUAGE plpgsql ${plans} SET enable_sort = off AS $take$
    #variable_conflict use_column
    DECLARE
      chosen text[];
    BEGIN
      IF one IS NOT NULL THEN
        RETURN QUERY SELECT each.id, each.record, each.owner, each.version FROM ${takeEach}(taker, now_at, ARRAY[one]) AS each;
        RETURN;
      END IF;
      -- What another taker of the session has in hand is left to the next time.
      chosen := ARRAY(
        SELECT first.id FROM (
          SELECT call.id, call.session, call.alone FROM ${calls} AS call
          WHERE ${waitsForWorker} AND call.queue = line AND ${isNotExcepted('call')} AND ${mayRunNow(calls, 'now_at', counted)}
          ORDER BY call.updated_at LIMIT most FOR UPDATE SKIP LOCKED) AS first
        WHERE CASE WHEN first.alone = 1 THEN pg_try_advisory_xact_lock(${lockOf('first')})
          ELSE pg_try_advisory_xact_lock_shared(${lockOf('first')}) END);
      IF cardinality(chosen) > 0 THEN
        ${takeOver('call.id = ANY (chosen)', mayRunNow(calls, 'now_at', counted))}
      END IF;
    END $take$;`
}
