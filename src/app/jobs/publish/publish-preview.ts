// Builds requested preview images and removes expired ones. They get only preview tags (config/publish.ts), which the
// pushing process checks again.
import { createHash } from 'node:crypto'
import { durationOf } from '../../../config/publish.ts'
import { ForgeError } from '../../../github/forge-error.ts'
import { previewCheck, type ToldPreview } from '../../../messages/preview-check.ts'
import type { Job, Jobs } from '../../../ports/jobs.ts'
import type { State } from '../../../ports/state.ts'
import type { JobContext } from '../job-context.ts'
import { withDigest } from '../publish-report.ts'
import { contentKey } from './content-key.ts'
import { isTag, placeholders, type Publication } from './plan-publications.ts'
import { madePreviews, previewWishes, type MadePreviews, type PreviewWish } from './preview-state.ts'
import { readGround, type Ground } from './read-ground.ts'

type PreviewJob = Extract<Job, { kind: 'preview' }>
type Previewing = JobContext<State & Jobs>
type MadeImage = MadePreviews['images'][number]

const nothingMade: MadePreviews = { images: [], ended: [], attempts: 0 }
/** For each pull request. */
const rememberedEnds = 100
/** Maximum seconds between attempts, and their number. */
const longestWait = 1800
const mostAttempts = 10
/** Seconds until a failed removal is retried. */
const unremovedWait = 600

export async function publishPreview(job: PreviewJob, place: Previewing): Promise<void> {
  const { app, forge } = place
  const key = String(job.pull)
  const wish = await app.store.readState(previewWishes, forge.repository, key)
  if (wish === undefined) return
  const before = (await app.store.readState(madePreviews, forge.repository, key)) ?? nothingMade
  const now = app.clock.now()
  const ground = wish.isClosed ? undefined : await readGround(place)
  const over = before.images.filter(({ until }) => wish.isClosed || until <= now)
  const removed = await remove(over, place)
  const standing = before.images.filter((image) => !removed.includes(image))
  const ended = [...before.ended, ...over.map((one) => endOf(wish, one))].slice(-rememberedEnds)
  const { images, told } =
    ground === undefined
      ? { images: standing, told: [] }
      : await make(job, wish, standing, ended, ground, place)
  const failed = told.some(({ state }) => state.kind === 'failed' && state.again)
  const shown = await show(wish, [...told, ...removed.map(asRemoved)], before, place)
  const attempts = failed ? before.attempts + 1 : 0
  await app.store.writeState(
    madePreviews,
    forge.repository,
    new Map([[key, { images, ended: [...new Set(ended)], attempts, ...(shown !== undefined && { shown }) }]]),
  )
  const waits = [
    ...(failed && attempts < mostAttempts
      ? [Math.min(app.settings.publishRetrySeconds * 2 ** attempts, longestWait)]
      : []),
    // Failed removals are retried after a delay.
    ...images.map(({ until }) => (until > now ? Math.ceil((until - now) / 1000) : unremovedWait)),
  ]
  if (waits.length > 0) await app.store.enqueue(job, Math.min(...waits))
}

/** Skips previews that expired for the same result. */
async function make(
  { pull }: PreviewJob,
  wish: PreviewWish,
  standing: readonly MadeImage[],
  ended: readonly string[],
  { plan, tips }: Ground,
  place: Previewing,
): Promise<{ readonly images: MadeImage[]; readonly told: ToldPreview[] }> {
  const { app, forge, repository, installation } = place
  const images = new Map(standing.map((image) => [`${image.image}:${image.tag}`, image]))
  const told: ToldPreview[] = []
  for (const publication of plan.publications) {
    const { entry, catalog, image, settings } = publication
    const { preview } = entry
    const base = tips.get(publication.branch)
    if (preview === undefined || base === undefined || publication.branch !== wish.baseRef) continue
    if (!wish.isAsked && !preview.automatic) continue
    const tag = placeholders(catalog, { number: String(pull) })(preview.tag)
    if (tag === undefined || !isTag(tag) || told.some((one) => one.image === image && one.tag === tag))
      continue
    if (!(await differs(publication, base.tree, wish.tree, place))) continue
    const key = await contentKey(publication, wish.tree, repository)
    const known = images.get(`${image}:${tag}`)
    if (ended.includes(endOf(wish, { key, image, tag }))) continue
    const about = { root: catalog.root, image, tag }
    if (known?.key === key) {
      told.push({ ...about, state: { kind: 'published', digest: known.digest, until: dayOf(known.until) } })
      continue
    }
    const { owner, name } = forge.repository
    const answer = await app.publishing.order({
      kind: 'publish',
      purpose: 'preview',
      github: forge.repository,
      installation,
      image,
      mirror: place.mirror,
      tree: wish.tree,
      root: catalog.root,
      tags: [tag],
      settings,
      annotations: {
        'org.opencontainers.image.source': `${app.settings.gitUrl}/${owner}/${name}`,
        'org.opencontainers.image.revision': wish.head,
        'io.github.catalog-bot.preview': `pull request ${pull}`,
      },
    })
    if (answer.kind !== 'published') {
      const why = 'why' in answer ? answer.why : answer.kind
      const again = answer.kind === 'failed' && answer.retryable
      told.push({ ...about, state: { kind: 'failed', why, again } })
      continue
    }
    const until = app.clock.now() + (durationOf(preview.expires) ?? 0)
    images.set(`${image}:${tag}`, { ...about, digest: answer.digest, key, until })
    told.push({ ...about, state: { kind: 'published', digest: answer.digest, until: dayOf(until) } })
  }
  return { images: [...images.values()], told }
}

const endOf = ({ comment }: PreviewWish, { key, image, tag }: Pick<MadeImage, 'key' | 'image' | 'tag'>) =>
  `${comment} ${image}:${tag} ${key}`

async function differs(
  publication: Publication,
  base: Parameters<typeof contentKey>[1],
  result: Parameters<typeof contentKey>[1],
  { repository }: Previewing,
): Promise<boolean> {
  return (
    (await contentKey(publication, base, repository)) !== (await contentKey(publication, result, repository))
  )
}

/** Returns the images that need no further attempt: deleted, or kept by the registry. */
async function remove(images: readonly MadeImage[], place: Previewing): Promise<readonly MadeImage[]> {
  const { app, forge, installation } = place
  const removed: MadeImage[] = []
  for (const [image, group] of Map.groupBy(images, (one) => one.image)) {
    const answer = await app.publishing.order({
      kind: 'remove',
      github: forge.repository,
      installation,
      image,
      images: group.map(({ digest, tag }) => ({ digest, tags: [tag] })),
    })
    if (answer.kind === 'removed') removed.push(...group)
    else app.log.warn({ image, answer }, 'preview images could not be removed')
  }
  return removed
}

const dayOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10)

const asRemoved = ({ root, image, tag }: MadeImage): ToldPreview => ({
  root,
  image,
  tag,
  state: { kind: 'removed' },
})

async function show(
  { head }: PreviewWish,
  told: readonly ToldPreview[],
  { shown }: MadePreviews,
  { app, forge }: Previewing,
): Promise<string | undefined> {
  if (told.length === 0) return shown
  const run = withDigest(previewCheck(told))
  const digest = createHash('sha256').update(`${head} ${run.digest}`).digest('hex').slice(0, 20)
  if (digest === shown) return shown
  try {
    await forge.perform({ kind: 'put-check', head, run })
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.log.warn({ err: error, head }, 'GitHub refused the check that tells of preview images')
  }
  return digest
}
