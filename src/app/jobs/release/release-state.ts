// What is remembered of the releases of a branch: up to which commit merged bundle directories were noticed, and how far
// each of them is on its way into the catalogs.
import { z } from 'zod'
import { commitSha, isObjectId } from '../../../change/ids.ts'
import { defineState } from '../../../ports/state.ts'

const commit = z.string().refine(isObjectId).transform(commitSha)
const milliseconds = z.number()

const releasing = z.object({
  /** Below `operators/`. */
  directory: z.string(),
  /** The name of the bundle's directory. */
  version: z.string(),
  /** The commit on the branch that brought it. */
  commit,
  /** When that was noticed. */
  since: milliseconds,
  /** How often its image was asked for, and when it is the next time. */
  tries: z.number(),
  again: milliseconds,
  /** By digest, once it is known. */
  image: z.string().exactOptional(),
  /** The tip for which it was worked out last. */
  seen: commit.exactOptional(),
  /**
   * The commit that our branch is at, or is to be moved to: written down before it is moved. `from`: where the branch was
   * before; absent where there was none.
   */
  head: commit.exactOptional(),
  from: commit.exactOptional(),
  /** Of the files that `head` writes. */
  digest: z.string().exactOptional(),
  /** Digests of what was told. */
  told: z.array(z.string()).readonly(),
})

const releaseState = z.object({ seen: commit, releasing: z.array(releasing).readonly() })

/** One bundle directory on its way. */
export type Releasing = Readonly<z.infer<typeof releasing>>

export type ReleaseState = Readonly<z.infer<typeof releaseState>>

/** By the branch's name. */
export const releases = defineState<ReleaseState>('release', {
  version: 1,
  read: (stored) => releaseState.safeParse(stored).data,
})
