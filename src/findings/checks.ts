// The one list of checks, in the order in which people see them. Everything else maps over it: what the gate requires,
// the check runs on GitHub, the comment, the index of rules' pages.

/** `required`: nothing is merged before it has passed. `configured`: the configuration says whether that is so. */
type CheckRequirement = 'required' | 'configured'

/** The gates GitHub shows; a rule belongs to exactly one. */
export const checks = [
  { id: 'ownership', title: 'The people who may agree to this change have agreed', demand: 'required' },
  { id: 'validation', title: 'The catalog is valid', demand: 'required' },
  { id: 'images', title: 'Every image exists, is allowed and matches the catalog', demand: 'required' },
  {
    id: 'install',
    title: 'Every changed package installs, as far as it shows without a cluster',
    demand: 'configured',
  },
] as const satisfies readonly {
  readonly id: string
  readonly title: string
  readonly demand: CheckRequirement
}[]

export type CheckId = (typeof checks)[number]['id']

export const checkIds: readonly CheckId[] = checks.map(({ id }) => id)
