// SLSA provenance v1 as an in-toto statement. Pure.
import { formatIsoTime } from '@catalog-bot/findings/printable'
import { z } from 'zod'
import { goObject } from '../../registry/strict-json.ts'
import { type SignedImage, parseProvenanceJson } from './signature-formats.ts'

export const slsaProvenanceType = 'https://slsa.dev/provenance/v1'
const inTotoStatementType = 'https://in-toto.io/Statement/v1'
/** Identifies the schema of the parameters below (see docs/how-to/publish.md). */
const catalogImageBuildType = 'urn:catalog-bot:catalog-image:v1'

export interface ImageBuildRecord {
  /** The catalog's repository, commit and directory. */
  readonly source?: { readonly repository: string; readonly revision: string; readonly path?: string }
  readonly base?: { readonly name: string; readonly digest: string }
  /** The image whose catalog was rebased. */
  readonly rebased?: { readonly name: string; readonly digest: string }
  readonly platforms: readonly string[]
  /** The URL of this installation. */
  readonly builder: string
  readonly version: string
  readonly started?: number
  readonly finished?: number
}

/** `path`: of the catalog in the repository that the annotations name. */
export function createImageBuildRecord(
  { base, platforms }: Pick<ImageBuildRecord, 'base' | 'platforms'>,
  annotations: Readonly<Record<string, string>>,
  path: string | undefined,
  more: Omit<ImageBuildRecord, 'source' | 'base' | 'platforms'>,
): ImageBuildRecord {
  const repository = annotations['org.opencontainers.image.source']
  const revision = annotations['org.opencontainers.image.revision']
  const hasSource = repository !== undefined && revision !== undefined
  return {
    ...(hasSource && { source: { repository, revision, ...(path !== undefined && { path }) } }),
    ...(base && { base }),
    platforms,
    ...more,
  }
}

export function createProvenanceStatement(image: SignedImage, build: ImageBuildRecord): Uint8Array {
  const { source, base, rebased } = build
  const statement = {
    _type: inTotoStatementType,
    subject: [{ name: image.repository, digest: toDigestSet(image.digest) }],
    predicateType: slsaProvenanceType,
    predicate: {
      buildDefinition: {
        buildType: catalogImageBuildType,
        externalParameters: {
          ...(source && { source: toSourceRepositoryParameter(source) }),
          ...(base && { base: base.name }),
          platforms: build.platforms,
        },
        resolvedDependencies: [
          ...(source
            ? [{ uri: formatGitUri(source.repository), digest: { gitCommit: source.revision } }]
            : []),
          ...(base ? [{ uri: `oci://${base.name}`, digest: toDigestSet(base.digest) }] : []),
          ...(rebased ? [{ uri: `oci://${rebased.name}`, digest: toDigestSet(rebased.digest) }] : []),
        ],
      },
      runDetails: {
        builder: { id: build.builder, version: { 'catalog-bot': build.version } },
        metadata: {
          ...(build.started !== undefined && { startedOn: formatIsoTime(build.started) }),
          ...(build.finished !== undefined && { finishedOn: formatIsoTime(build.finished) }),
        },
      },
    },
  }
  return new TextEncoder().encode(JSON.stringify(statement))
}

function toSourceRepositoryParameter({ repository, path }: NonNullable<ImageBuildRecord['source']>): object {
  return { uri: formatGitUri(repository), ...(path !== undefined && { path }) }
}

function formatGitUri(repository: string): string {
  return repository.startsWith('git+') ? repository : `git+${repository}`
}

function toDigestSet(digest: string): Readonly<Record<string, string>> {
  const at = digest.indexOf(':')
  return { [digest.slice(0, at)]: digest.slice(at + 1) }
}

/** What is not as expected in a predicate counts as absent. */
const slsaPredicateSchema = z
  .object({
    runDetails: z
      .object({ builder: z.object({ id: z.string() }) })
      .optional()
      .catch(undefined),
    buildDefinition: z
      .object({ resolvedDependencies: z.array(z.unknown()) })
      .optional()
      .catch(undefined),
  })
  .catch({})

const dependencySchema = z.object({ uri: z.string(), digest: z.record(z.string(), z.unknown()).catch({}) })

const inTotoStatementSchema = goObject({
  _type: z.string(),
  predicateType: z.string(),
  subject: z.array(goObject({ name: z.string(), digest: z.record(z.string(), z.string()) })),
  predicate: slsaPredicateSchema,
})

/** An image's origin. Undeclared fields are absent. */
export interface ImageProvenance {
  readonly builder?: string
  readonly sources: readonly string[]
}

/** cosign uses an older in-toto version. */
const acceptedInTotoStatementTypes: ReadonlySet<string | undefined> = new Set([
  inTotoStatementType,
  'https://in-toto.io/Statement/v0.1',
])

/** The statement's provenance for this image, or the reason for rejecting it. */
export function parseProvenance(
  bytes: Uint8Array,
  image: SignedImage,
): { readonly provenance: ImageProvenance } | { readonly problem: string } {
  const read = parseProvenanceJson(bytes, inTotoStatementSchema, 'the statement')
  if ('problem' in read) return read
  const { claim: statement } = read
  if (!acceptedInTotoStatementTypes.has(statement._type))
    return { problem: 'the payload is not an in-toto statement' }
  if (statement.predicateType !== slsaProvenanceType)
    return { problem: 'the statement is not SLSA provenance v1' }
  const { sha256 } = toDigestSet(image.digest)
  const isAbout = (statement.subject ?? []).some(({ digest }) => digest?.['sha256'] === sha256)
  if (sha256 === undefined || !isAbout) return { problem: 'the statement describes another image' }
  return { provenance: toImageProvenance(statement.predicate) }
}

function toImageProvenance({
  runDetails,
  buildDefinition,
}: z.output<typeof slsaPredicateSchema> = {}): ImageProvenance {
  const sources = (buildDefinition?.resolvedDependencies ?? []).flatMap((one) => {
    const { success, data } = dependencySchema.safeParse(one)
    if (!success) return []
    const [first] = Object.values(data.digest)
    return [typeof first === 'string' ? `${data.uri}@${first}` : data.uri]
  })
  return { ...(runDetails && { builder: runDetails.builder.id }), sources }
}
