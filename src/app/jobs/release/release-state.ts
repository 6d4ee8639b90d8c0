// State of a branch's releases: the last commit searched for merged bundles, and the progress of each bundle.
import { z } from 'zod'
import { commitSha, isObjectId } from '../../../change/ids.ts'
import { defineState } from '../../../ports/state.ts'

const commit = z.string().refine(isObjectId).transform(commitSha)
const milliseconds = z.number()

const releasing = z.object({
  /** Below `operators/`. */
  directory: z.string(),
  version: z.string(),
  commit,
  since: milliseconds,
  /** Attempts to find its image, and the time of the next one. */
  tries: z.number(),
  again: milliseconds,
  image: z.string().exactOptional(),
  /** The tip it was last computed for. */
  seen: commit.exactOptional(),
  /**
   * The commit our branch has or will have, recorded before the move. `from`: its commit before; absent if there was no
   * branch.
   */
  head: commit.exactOptional(),
  from: commit.exactOptional(),
  /** Of the files that `head` writes. */
  digest: z.string().exactOptional(),
  /** Digests of reported news. */
  told: z.array(z.string()).readonly(),
})

const releaseState = z.object({ seen: commit, releasing: z.array(releasing).readonly() })

export type Releasing = Readonly<z.infer<typeof releasing>>

export type ReleaseState = Readonly<z.infer<typeof releaseState>>

/** By branch name. */
export const releases = defineState<ReleaseState>('release', {
  version: 1,
  read: (stored) => releaseState.safeParse(stored).data,
})
