// Parses /rollback and records the request. Only the publishing job writes to the registry, so that a tag has one
// writer.
import type { Snapshot } from '../../../change/snapshot.ts'
import type { CommandDecision, RollbackWords } from '../../../gate/commands.ts'
import type { Jobs } from '../../../ports/jobs.ts'
import type { State } from '../../../ports/state.ts'
import type { JobContext } from '../job-context.ts'
import type { Publication } from './plan-publications.ts'
import { noPublication, publications, rollbackWishes, type PublicationState } from './publication-state.ts'
import { readGround } from './read-ground.ts'

interface Candidate {
  readonly publication: Publication
  readonly state: PublicationState
}

type Meant =
  | {
      readonly kind: 'image'
      readonly publication: Publication
      readonly tag: string
      readonly digest: string
    }
  | { readonly kind: 'unclear'; readonly why: string }

/** `[tag] [digest or tag of a former image]`. The default is the tag's previous image. */
export function meantByRollback(words: string, candidates: readonly Candidate[]): Meant {
  const [first, second, ...more] = words.split(/[ \t]+/).filter((word) => word !== '')
  if (more.length > 0) return unclear('write /rollback TAG, or /rollback TAG DIGEST')
  if (candidates.length === 0) return unclear('no image is published from this branch')
  const named = candidates.filter(
    ({ publication: { image, tags } }) =>
      first !== undefined && (tags.includes(first) || tags.some((tag) => `${image}:${tag}` === first)),
  )
  if (first === undefined && candidates.length > 1)
    return unclear(`several images are published from this branch: write /rollback TAG`)
  if (named.length > 1) return unclear(`several images have the tag ${first}: write IMAGE:TAG`)
  const wanted = named.length === 1 || first === undefined ? second : first
  if (named.length === 0 && second !== undefined)
    return unclear(`no image is published under the tag ${first}`)
  const among = named.length === 1 ? named : candidates
  if (wanted === undefined) {
    const [only] = among
    const before = only && previous(only.state)
    return only === undefined || before === undefined
      ? unclear('there is no image before the present one')
      : meaning(only, before.digest)
  }
  const found = among.flatMap((candidate) => {
    const { current, history } = candidate.state
    const image = [...(current ? [current] : []), ...history].find(
      ({ digest, tag }) => digest === wanted || tag === wanted,
    )
    return image === undefined ? [] : [meaning(candidate, image.digest)]
  })
  const [only, ...others] = found
  if (only === undefined) return unclear(`the bot published no image ${wanted} there`)
  return others.length > 0 ? unclear(`several images are meant by ${wanted}: write the tag first`) : only
}

const unclear = (why: string): Meant => ({ kind: 'unclear', why })

function meaning({ publication }: Candidate, digest: string): Meant {
  return { kind: 'image', publication, tag: publication.tags[0] ?? '', digest }
}

/** The image published before the current one, regardless of rollbacks since. */
function previous({ current, history }: PublicationState) {
  return history
    .filter(({ at }) => current === undefined || at < current.at)
    .toSorted((a, b) => b.at - a.at)
    .at(0)
}

/** Idempotent. */
export async function obeyRollback(
  decision: CommandDecision,
  { pull, baseRef }: Snapshot,
  place: JobContext<State & Jobs>,
): Promise<CommandDecision> {
  const { record } = decision
  if (record.command !== 'rollback' || record.outcome !== 'done' || record.rollback === undefined)
    return decision
  const { app, forge, installation } = place
  const { repository } = forge
  const { words } = record.rollback
  const ground = await readGround(place)
  const candidates: Candidate[] = []
  for (const publication of ground?.plan.publications ?? [])
    if (publication.branch === baseRef)
      candidates.push({
        publication,
        state: (await app.store.readState(publications, repository, publication.id)) ?? noPublication,
      })
  const meant = meantByRollback(words, candidates)
  const said = (rollback: RollbackWords): CommandDecision['record'] => ({ ...record, rollback })
  if (meant.kind === 'unclear') {
    const { why } = meant
    return {
      record: { ...said({ words, why }), outcome: 'unclear' },
      reaction: 'confused',
      answer: why,
    }
  }
  const { publication, tag, digest } = meant
  const wish = { comment: record.comment, pull, login: record.login, digest }
  await app.store.writeState(rollbackWishes, repository, new Map([[publication.id, wish]]))
  await app.store.enqueue({ kind: 'publish', installation, repository })
  app.log.info({ image: publication.image, digest, login: record.login }, 'a maintainer rolls an image back')
  return { ...decision, record: said({ words, image: publication.image, tag, digest }) }
}
