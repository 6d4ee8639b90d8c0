// The operator's list: which GitHub repository may push to which image repositories with which credentials. A
// repository's configuration can only choose among these (docs/decisions/publishing.md).
import { z } from 'zod'
import { parse } from 'yaml'
import { parseImageReference } from '../../go/reference/image-reference.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import { repositoryKey } from '../../change/repository-key.ts'

const imagePattern = z.string().refine((text) => parsePattern(text) !== undefined, {
  message: 'must be HOST/PATH, or HOST/PATH/* for everything below it; no tag, no digest',
})

const target = z.strictObject({
  github: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/, 'must be OWNER/REPOSITORY')
    .describe('One repository. There is no pattern: a new repository gets no credentials by its name.'),
  /** Repository names can be reused by others; an installation id cannot. */
  installation: z.number().int().positive().optional(),
  push: z.array(imagePattern).default([]),
  /** Allowed sources of base images besides public addresses. */
  bases: z.array(imagePattern).default([]),
  /** A Docker config file, relative to this one; default: the variable PUBLISH_CREDENTIALS. */
  credentials: z.string().min(1).optional(),
  /** A private key file, relative to this one, that signs everything published under this entry. */
  signingKey: z.string().min(1).optional(),
  /** If false, only the index of a multi-platform image is signed. */
  signPlatforms: z.boolean().default(true),
  webhooks: z
    .array(
      z.strictObject({
        url: z.url({ protocol: /^https?$/ }),
        secret: z.string().min(1),
      }),
    )
    .default([]),
})

const document = z.array(target)

export type PushTarget = z.output<typeof target>

/** The requesting repository, authenticated by GitHub and never read from its files. */
export interface Asking {
  readonly github: RepositoryName
  readonly installation: number
}

export type Grant =
  | { readonly kind: 'granted'; readonly target: PushTarget; readonly at: number }
  | { readonly kind: 'refused'; readonly why: string }

/**
 * Reads the operator's list (YAML or JSON). Throws an Error that names the problem without values, which may be secret.
 */
export function parsePushTargets(text: string): readonly PushTarget[] {
  let value: unknown
  try {
    value = parse(text, { maxAliasCount: 0 })
  } catch {
    throw new Error('PUBLISH_TARGETS is not YAML')
  }
  const result = document.safeParse(value ?? [])
  if (result.success) return result.data
  throw new Error(
    `PUBLISH_TARGETS: ${result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')}`,
  )
}

export function grantPush(targets: readonly PushTarget[], asking: Asking, image: string): Grant {
  return grant(
    targets,
    asking,
    ({ push }) => push.some((pattern) => covers(pattern, image)),
    `push to ${image}`,
  )
}

/** The address must match exactly. */
export function grantWebhook(targets: readonly PushTarget[], asking: Asking, url: string): Grant {
  return grant(
    targets,
    asking,
    ({ webhooks }) => webhooks.some((one) => one.url === url),
    'call this webhook',
  )
}

function grant(
  targets: readonly PushTarget[],
  { github, installation }: Asking,
  isCovered: (target: PushTarget) => boolean,
  what: string,
): Grant {
  const name = repositoryKey(github)
  const own = targets.filter(
    (one) =>
      one.github.toLowerCase() === name &&
      (one.installation === undefined || one.installation === installation),
  )
  const found = own.find(isCovered)
  if (found !== undefined) return { kind: 'granted', target: found, at: targets.indexOf(found) }
  return {
    kind: 'refused',
    why: `the operator of the App does not let ${github.owner}/${github.name} ${what}`,
  }
}

/** Matches whole path components, never a name's prefix. */
export function covers(pattern: string, image: string): boolean {
  const wanted = parsePattern(pattern)
  const given = imageRepository(image)
  if (wanted === undefined || given === undefined) return false
  return wanted.below ? given.startsWith(`${wanted.name}/`) : given === wanted.name
}

/** Normalizes `quay.io/org/catalog`; returns undefined unless the text names exactly one repository. */
export function imageRepository(text: string): string | undefined {
  const { reference } = parseImageReference(text)
  if (reference === undefined || reference.tag !== undefined || reference.digest !== undefined)
    return undefined
  return `${reference.host}/${reference.repository}`
}

function parsePattern(text: string): { readonly name: string; readonly below: boolean } | undefined {
  const below = text.endsWith('/*')
  const bare = below ? text.slice(0, -2) : text
  const [host = '', ...path] = bare.split('/')
  // Require a host: without one, the pattern would mean Docker Hub.
  if (path.length === 0 || !/[.:]|^localhost$/.test(host)) return undefined
  // Parse it with a suffix, because Docker Hub expands single-component names.
  const name = below ? imageRepository(`${bare}/x`)?.slice(0, -2) : imageRepository(bare)
  return name === undefined ? undefined : { name, below }
}
