// Chooses the stories to run: the named ones, or all that are built. A story that is not built is always reported, and
// fails a run that requested it.
export interface ClusterStorySelection {
  readonly run: readonly string[]
  /** Stories with binaries that are not built. */
  readonly notTried: readonly string[]
  /** A story that was requested by name or by `--all` does not run, or no story runs. */
  readonly isIncomplete: boolean
}

/** Throws for an unknown story name. */
export function selectClusterStories(
  names: readonly string[],
  stories: readonly string[],
  isBuilt: (story: string) => boolean,
): ClusterStorySelection {
  const isAll = names.includes('--all')
  const named = names.filter((word) => word !== '--all')
  const unknown = named.find((word) => !stories.includes(word))
  if (unknown !== undefined) throw new Error(`there is no story ${unknown}: ${stories.join(', ')}`)
  const requested = named.length > 0 && !isAll ? named : stories
  const run = requested.filter(isBuilt)
  const notTried = requested.filter((story) => !isBuilt(story))
  const isIncomplete = run.length === 0 || (notTried.length > 0 && (isAll || named.length > 0))
  return { run, notTried, isIncomplete }
}
