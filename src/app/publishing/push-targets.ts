// Where this App's credentials may push, as whoever runs it says: which GitHub repository, to which image repositories,
// with which credentials. A repository's own configuration chooses among these and can add none (docs/decisions/publishing.md).
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
  /** Names can be given up and taken by others; an installation's id cannot. */
  installation: z.number().int().positive().optional(),
  push: z.array(imagePattern).default([]),
  /** Where base images may come from besides public addresses. */
  bases: z.array(imagePattern).default([]),
  /** A file in docker's format, from the folder of this one; absent: the variable PUBLISH_CREDENTIALS. */
  credentials: z.string().min(1).optional(),
  /** A private key, from the folder of this one: all that is published under this entry is signed with it. */
  signingKey: z.string().min(1).optional(),
  /** False: of an image for several platforms, the key signs the index alone. */
  signPlatforms: z.boolean().default(true),
  webhooks: z
    .array(
      z.strictObject({
        url: z.url({ protocol: /^https?$/ }),
        /** A file with the secret. */
        secret: z.string().min(1),
      }),
    )
    .default([]),
})

const document = z.array(target)

export type PushTarget = z.output<typeof target>

/** Who asks. Both come from GitHub, by our own App's key: no file of a repository says them. */
export interface Asking {
  readonly github: RepositoryName
  readonly installation: number
}

export type Grant =
  | { readonly kind: 'granted'; readonly target: PushTarget; readonly at: number }
  | { readonly kind: 'refused'; readonly why: string }

/** Reads the operator's list (YAML or JSON). Throws an Error that says what is wrong with it, without its values. */
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

/** The entry under which a GitHub repository may push to an image repository. */
export function grantPush(targets: readonly PushTarget[], asking: Asking, image: string): Grant {
  return grant(
    targets,
    asking,
    ({ push }) => push.some((pattern) => covers(pattern, image)),
    `push to ${image}`,
  )
}

/** The entry under which a GitHub repository may call a webhook: exactly this address. */
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

/** Whether a pattern covers an image repository: by whole components, never by a prefix of a name. */
export function covers(pattern: string, image: string): boolean {
  const wanted = parsePattern(pattern)
  const given = imageRepository(image)
  if (wanted === undefined || given === undefined) return false
  return wanted.below ? given.startsWith(`${wanted.name}/`) : given === wanted.name
}

/** `quay.io/org/catalog` as it is compared; undefined for what names no repository, or more than one. */
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
  // A host must be written: a pattern without one would be Docker Hub's.
  if (path.length === 0 || !/[.:]|^localhost$/.test(host)) return undefined
  // Asked for with something below it: Docker Hub's names of one part are short for others.
  const name = below ? imageRepository(`${bare}/x`)?.slice(0, -2) : imageRepository(bare)
  return name === undefined ? undefined : { name, below }
}
