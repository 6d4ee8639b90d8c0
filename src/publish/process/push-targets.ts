// The administrator's list: which GitHub repository can push to which image repositories, and with which credentials. A
// repository's configuration can only choose among these (docs/dev/decisions/publishing.md).
import { z } from 'zod'
import { describeSchemaProblem, parseYamlDocument } from '../../config/text-problems.ts'
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { type RepositoryName, toRepositoryKey } from '../../pull-request/snapshot.ts'

const imagePatternSchema = z
  .string()
  .refine((text) => parseImagePattern(text) !== undefined, {
    message: 'must be HOST/PATH, or HOST/PATH/* for everything below that path, without a tag or digest',
  })

/** The fields of an administrator's list that name a repository. `gain`: what an entry gives it. */
export const createTargetRepositoryFields = (gain: string) => ({
  github: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/, 'must be OWNER/REPOSITORY')
    .describe(
      `A single repository. Patterns are not supported, so that a new repository cannot gain ${gain} through its name alone.`,
    ),
  /** Repository names can be reused by others; an installation id cannot. */
  installation: z.number().int().positive().optional(),
})

const pushTargetSchema = z.strictObject({
  ...createTargetRepositoryFields('credentials'),
  push: z.array(imagePatternSchema).default([]),
  /** Allowed sources of base images besides public addresses. */
  bases: z.array(imagePatternSchema).default([]),
  /** A Docker config file, relative to this one; default: the variable PUBLISH_CREDENTIALS. */
  credentials: z.string().min(1).optional(),
  /** A private key file, relative to this one, that signs everything published under this entry. */
  signingKey: z.string().min(1).optional(),
  /** If false, only the index of a multi-platform image is signed. */
  signPlatforms: z.boolean().default(true),
  webhooks: z
    .array(z.strictObject({ url: z.url({ protocol: /^https?$/ }), secret: z.string().min(1) }))
    .default([]),
})

export type PushTarget = z.output<typeof pushTargetSchema>

/** The requesting repository, authenticated by GitHub and never read from its files. */
export interface RequestingRepository {
  readonly github: RepositoryName
  readonly installation: number
}

export type PushGrant =
  | { readonly kind: 'granted'; readonly target: PushTarget; readonly at: number }
  | { readonly kind: 'refused'; readonly why: string }

export const parsePushTargets = (text: string): readonly PushTarget[] =>
  parseTargetList(text, 'PUBLISH_TARGETS', pushTargetSchema)

/** Reads an administrator's list (YAML or JSON). Errors name the problem without values, which may be secret. */
export function parseTargetList<Schema extends z.ZodType>(
  text: string,
  variable: string,
  schema: Schema,
): readonly z.output<Schema>[] {
  const { document, problem } = parseYamlDocument(variable, text)
  if (problem !== undefined)
    throw new Error(
      `${variable} is not valid YAML: line ${problem.at.line}, column ${problem.at.column}: ${problem.problem}`,
    )
  const result = z.array(schema).safeParse(document?.toJS() ?? [], { error: describeSchemaProblem })
  if (result.success) return result.data
  throw new Error(
    `${variable}: ${result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')}`,
  )
}

export function filterTargetsOf<Target extends Pick<PushTarget, 'github' | 'installation'>>(
  targets: readonly Target[],
  { github, installation }: RequestingRepository,
): readonly Target[] {
  const name = toRepositoryKey(github)
  return targets.filter(
    (one) =>
      one.github.toLowerCase() === name &&
      (one.installation === undefined || one.installation === installation),
  )
}

export function findImagePushGrant(
  targets: readonly PushTarget[],
  requester: RequestingRepository,
  image: string,
): PushGrant {
  return findPushTargetGrant(
    targets,
    requester,
    ({ push }) => push.some((pattern) => matchesImagePattern(pattern, image)),
    `push to ${image}`,
  )
}

/** The address must match exactly. */
export function findWebhookGrant(
  targets: readonly PushTarget[],
  requester: RequestingRepository,
  url: string,
): PushGrant {
  return findPushTargetGrant(
    targets,
    requester,
    ({ webhooks }) => webhooks.some((one) => one.url === url),
    'call this webhook',
  )
}

function findPushTargetGrant(
  targets: readonly PushTarget[],
  requester: RequestingRepository,
  isCovered: (target: PushTarget) => boolean,
  action: string,
): PushGrant {
  const { github } = requester
  const found = filterTargetsOf(targets, requester).find(isCovered)
  if (found !== undefined) return { kind: 'granted', target: found, at: targets.indexOf(found) }
  return {
    kind: 'refused',
    why: `the bot administrator does not allow ${github.owner}/${github.name} to ${action}`,
  }
}

/** Matches complete path components, never a name's prefix. */
export function matchesImagePattern(pattern: string, image: string): boolean {
  const allowed = parseImagePattern(pattern)
  const normalized = normalizeImageRepository(image)
  if (allowed === undefined || normalized === undefined) return false
  return allowed.below ? normalized.startsWith(`${allowed.name}/`) : normalized === allowed.name
}

/** Normalizes `quay.io/org/catalog`; returns undefined unless the text names exactly one repository. */
export function normalizeImageRepository(text: string): string | undefined {
  const { reference } = parseImageReference(text)
  if (reference === undefined || reference.tag !== undefined || reference.digest !== undefined)
    return undefined
  return `${reference.host}/${reference.repository}`
}

function parseImagePattern(text: string): { readonly name: string; readonly below: boolean } | undefined {
  const below = text.endsWith('/*')
  const bare = below ? text.slice(0, -2) : text
  const [host = '', ...path] = bare.split('/')
  // Require a host: without one, the pattern would mean Docker Hub.
  if (path.length === 0 || !/[.:]|^localhost$/.test(host)) return undefined
  // Parse it with a suffix, because Docker Hub expands single-component names.
  const name = below ? normalizeImageRepository(`${bare}/x`)?.slice(0, -2) : normalizeImageRepository(bare)
  return name === undefined ? undefined : { name, below }
}
