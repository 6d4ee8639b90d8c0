// The list of checks, in display order. The gate, the check runs on GitHub, the comment, and the index of rule pages are all
// derived from it.

/** `required`: must pass before a merge. `configured`: the configuration decides whether it must pass. */
type CheckRequirement = 'required' | 'configured'

/** The checks that GitHub shows. Each rule belongs to exactly one of them. */
export const checkDefinitions = [
  {
    id: 'ownership',
    title: 'Everyone who must approve this change has approved it',
    requirement: 'required',
  },
  { id: 'validation', title: 'The catalog is valid', requirement: 'required' },
  { id: 'images', title: 'Every image exists, is allowed, and matches the catalog', requirement: 'required' },
  {
    id: 'install',
    title: 'A simulated installation of every changed package succeeds',
    requirement: 'configured',
  },
] as const satisfies readonly {
  readonly id: string
  readonly title: string
  readonly requirement: CheckRequirement
}[]

export type CheckId = (typeof checkDefinitions)[number]['id']

export const checkIds: readonly CheckId[] = checkDefinitions.map(({ id }) => id)
