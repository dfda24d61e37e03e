// Tools of services that do not exist, to make a list as long as a bench needs.
import { tool, type Tool } from 'toolwright'

const things = {
  helpdesk: 'ticket macro queue agent article brand survey tag trigger view',
  shop: 'product order discount collection fulfilment shopper basket voucher warehouse parcel',
  ledger: 'invoice bill vendor estimate expense tax account payment receipt budget',
  calendar: 'event attendee reminder room holiday booking slot invitation agenda recurrence',
  payroll: 'employee payslip absence contract bonus timesheet benefit position allowance grade',
  fleet: 'vehicle driver route trip depot inspection fuel tyre permit geofence',
  clinic: 'patient appointment prescription referral ward nurse diagnosis vaccine allergy discharge',
  campus: 'student course lecture exam grade seminar professor enrolment library thesis',
  studio: 'scene clip soundtrack subtitle storyboard take actor location costume render',
  monitoring: 'alert dashboard metric probe outage runbook silence host panel threshold',
  storage: 'bucket object volume snapshot replica quota archive lifecycle mount share',
  network: 'subnet router gateway tunnel certificate domain record firewall peer address',
  survey: 'question respondent panel quota answer branch language theme export wave',
  travel: 'flight hotel itinerary passenger visa luggage seat refund transfer excursion',
  estate: 'property tenant lease viewing landlord repair deposit meter key listing',
  legal: 'matter clause filing hearing witness exhibit deadline court brief settlement',
  farm: 'field crop harvest tractor irrigation silo herd feed seed greenhouse',
  game: 'player match lobby achievement inventory quest guild leaderboard skin season',
} as const

const deeds: Readonly<Record<string, (thing: string, service: string) => string>> = {
  list: (thing, service) => `Lists each ${thing} of the ${service}, the newest first. Takes a page and filters.`,
  get: (thing, service) => `Reads one ${thing} of the ${service} by its id.`,
  create: (thing, service) => `Creates a ${thing} in the ${service}. Answers with the whole ${thing}.`,
  update: (thing, service) => `Changes members of a ${thing} in the ${service}. What is left out stays as it is.`,
  delete: (thing, service) => `Deletes a ${thing} of the ${service} for good.`,
  search: (thing, service) => `Finds each ${thing} of the ${service} that has a text.`,
  archive: (thing, service) => `Archives a ${thing} of the ${service}, from where it can be restored.`,
  restore: (thing, service) => `Restores an archived ${thing} of the ${service}.`,
  copy: (thing, service) => `Copies a ${thing} of the ${service} under another name.`,
  export: (thing, service) => `Writes each ${thing} of the ${service} to a table.`,
  import: (thing, service) => `Reads a table, and makes a ${thing} in the ${service} of each row.`,
  share: (thing, service) => `Lets a person see a ${thing} of the ${service}.`,
  assign: (thing, service) => `Assigns a ${thing} of the ${service} to a person.`,
  count: (thing, service) => `Counts each ${thing} of the ${service} by its state.`,
  approve: (thing, service) => `Approves a ${thing} of the ${service} that waits for it.`,
  reject: (thing, service) => `Rejects a ${thing} of the ${service} with a reason.`,
  history: (thing, service) => `Lists who changed a ${thing} of the ${service}, and when.`,
  comment: (thing, service) => `Adds a comment to a ${thing} of the ${service}.`,
  attach: (thing, service) => `Attaches a file to a ${thing} of the ${service}.`,
  watch: (thing, service) => `Tells a person of changes of a ${thing} of the ${service}.`,
  merge: (thing, service) => `Joins one ${thing} of the ${service} with another.`,
}

/** Makes so many tools, at most 3,780. */
export function madeUpTools(count: number): Tool[] {
  const all = Object.entries(things).flatMap(([service, words]) =>
    words.split(' ').flatMap((thing) =>
      Object.entries(deeds).map(([deed, describe]) =>
        tool({
          name: `${service}_${deed}_${thing}`,
          description: describe(thing, service),
          inputSchema: {
            type: 'object',
            properties: {
              [`${thing}_id`]: { type: 'string', description: `The id of the ${thing}` },
              limit: { type: 'integer', description: 'How many at most' },
            },
          },
          metadata: { tags: [service] },
          handler: () => 'done',
        }),
      ),
    ),
  )
  if (all.length < count) throw new Error(`There are ${all.length} made-up tools, and not ${count}.`)
  return all.slice(0, count)
}
