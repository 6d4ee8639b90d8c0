// State of a branch's releases: the last commit searched for merged bundles, and the progress of each bundle.
import { z } from 'zod'
import { toCommitSha, isObjectId } from '../pull-request/ids.ts'
import { defineStateNamespace } from '../ports/state.ts'

const commitShaSchema = z.string().refine(isObjectId).transform(toCommitSha)
const millisecondsSchema = z.number()

const pendingReleaseSchema = z.object({
  /** Below `operators/`. */
  directory: z.string(),
  version: z.string(),
  commit: commitShaSchema,
  since: millisecondsSchema,
  /** Attempts to find its image, and the time of the next one. */
  tries: z.number(),
  again: millisecondsSchema,
  image: z.string().exactOptional(),
  /** The tip it was last computed for. */
  seen: commitShaSchema.exactOptional(),
  /**
   * The commit our branch has or will have, recorded before the move. `from`: its commit before; absent if there was no
   * branch.
   */
  head: commitShaSchema.exactOptional(),
  from: commitShaSchema.exactOptional(),
  /** Of the files that `head` writes. */
  digest: z.string().exactOptional(),
  /** Digests of reported news. */
  told: z.array(z.string()).readonly(),
})

const releaseStateSchema = z.object({
  seen: commitShaSchema,
  releasing: z.array(pendingReleaseSchema).readonly(),
})

export type PendingRelease = Readonly<z.infer<typeof pendingReleaseSchema>>

export type ReleaseState = Readonly<z.infer<typeof releaseStateSchema>>

/** By branch name. */
export const releaseStateNamespace = defineStateNamespace<ReleaseState>('release', {
  version: 1,
  read: (stored) => releaseStateSchema.safeParse(stored).data,
})
