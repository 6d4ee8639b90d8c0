// `ValidateCustomResourceDefinition` of k8s.io/apiextensions-apiserver without schemas, after defaulting, as the
// validators of operator-framework/api call it.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { toPlainJson } from '@catalog-bot/fbc/go/json/plain-json'
import { replaceMapEntries, replaceListItems, type ParsedValue } from '@catalog-bot/fbc/go/tree'
import type { FieldPath } from '../bundle-locator.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'
import { isDnsLabel, isDnsSubdomain } from './names.ts'

export type CrdValidationProblem = readonly [FieldPath, string]

/** `tree` is the whole definition. */
export function* findCrdProblems(tree: ParsedValue, apiVersion: string): Generator<CrdValidationProblem> {
  // Schemas make up most of the definition, and these checks don't need them.
  const crd = toPlainJson(replaceSchemasWithTrue(tree))
  const isOld = apiVersion.endsWith('/v1beta1')
  const spec = getJsonFieldAtPath(crd, 'spec')
  const group = asStringOrEmpty(getJsonFieldAtPath(spec, 'group'))
  yield* findCrdNameProblems(crd, group)
  if (!isDnsSubdomain(group)) yield [['spec', 'group'], `its group "${group}" is not a domain name`]
  else if (!group.includes('.')) yield [['spec', 'group'], `its group "${group}" has no dot`]
  const scope = asStringOrEmpty(getJsonFieldAtPath(spec, 'scope')) || (isOld ? 'Namespaced' : '')
  if (!['Namespaced', 'Cluster'].includes(scope))
    yield [['spec', 'scope'], 'its scope is neither Namespaced nor Cluster']
  yield* findCrdVersionProblems(spec, isOld)
  yield* findAcceptedNamesProblems(getJsonFieldAtPath(spec, 'names'))
  yield* findPrinterColumnAndScaleProblems(spec, ['spec'], isOld)
  yield* findConversionProblems(spec, isOld)
  yield* findApiApprovalProblems(crd, group)
  // v1beta1 preserves unknown fields by default.
  const preserves = getJsonFieldAtPath(spec, 'preserveUnknownFields')
  if (preserves === true || (isOld && (preserves === undefined || preserves === null)))
    yield [
      preserves === true ? ['spec', 'preserveUnknownFields'] : ['spec'],
      `preserveUnknownFields ${preserves === true ? 'is true' : 'is missing, so it defaults to true in v1beta1'}; set it to false, and use x-kubernetes-preserve-unknown-fields in the schema where needed`,
    ]
}

/** Replaces each schema with `true`. */
function replaceSchemasWithTrue(value: ParsedValue): ParsedValue {
  if (value.kind === 'list') return replaceListItems(value, value.items.map(replaceSchemasWithTrue))
  if (value.kind !== 'map') return value
  return replaceMapEntries(
    value,
    value.entries.map((entry) =>
      entry.key === 'openAPIV3Schema' && entry.value.kind === 'map' && entry.value.entries.length > 0
        ? { ...entry, value: { kind: 'bool', value: true, start: entry.value.start, end: entry.value.end } }
        : { ...entry, value: replaceSchemasWithTrue(entry.value) },
    ),
  )
}

function* findCrdNameProblems(crd: Json, group: string): Generator<CrdValidationProblem> {
  const name = asStringOrEmpty(getJsonFieldAtPath(crd, 'metadata', 'name'))
  const wanted = `${asStringOrEmpty(getJsonFieldAtPath(crd, 'spec', 'names', 'plural'))}.${group}`
  if (name !== wanted) yield [['metadata', 'name'], `its name is not "${wanted}"`]
}

function* findCrdVersionProblems(spec: Json | undefined, isOld: boolean): Generator<CrdValidationProblem> {
  const versions = asListOrEmpty(getJsonFieldAtPath(spec, 'versions'))
  const single = asStringOrEmpty(getJsonFieldAtPath(spec, 'version'))
  const names = versions.map((version) => asStringOrEmpty(getJsonFieldAtPath(version, 'name')))
  if (isOld && single !== '') {
    if (!isDnsLabel(single)) yield [['spec', 'version'], `"${single}" is not a valid version name`]
    if (names.length > 0 && names[0] !== single)
      yield [['spec', 'version'], 'spec.version is not the first entry of spec.versions']
    // With an empty list, the single version is served and stored.
    if (versions.length === 0) return
  }
  const stored = versions.filter((version) => getJsonFieldAtPath(version, 'storage') === true).length
  if (stored !== 1) yield [['spec', 'versions'], `it has ${stored} storage versions instead of one`]
  for (const [index, version] of versions.entries()) {
    const name = names[index] ?? ''
    const path = ['spec', 'versions', index]
    if (!isDnsLabel(name)) yield [[...path, 'name'], `"${name}" is not a valid version name`]
    if (names.indexOf(name) !== index) yield [path, `it lists the version "${name}" twice`]
    if (!isOld && getJsonFieldAtPath(version, 'schema', 'openAPIV3Schema') !== true)
      yield [path, `its version "${name}" has no schema`]
    const warning = getJsonFieldAtPath(version, 'deprecationWarning')
    if (typeof warning === 'string' && getJsonFieldAtPath(version, 'deprecated') !== true)
      yield [
        [...path, 'deprecationWarning'],
        `its version "${name}" has a deprecationWarning but is not deprecated`,
      ]
    else if (
      typeof warning === 'string' &&
      (warning === '' || warning.length > 256 || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(warning))
    )
      yield [
        [...path, 'deprecationWarning'],
        `the deprecationWarning of its version "${name}" is empty, too long, or has invalid characters`,
      ]
    yield* findPrinterColumnAndScaleProblems(version, path, isOld)
  }
}

function* findAcceptedNamesProblems(names: Json | undefined): Generator<CrdValidationProblem> {
  const kind = asStringOrEmpty(getJsonFieldAtPath(names, 'kind'))
  const listKind =
    asStringOrEmpty(getJsonFieldAtPath(names, 'listKind')) || (kind === '' ? '' : `${kind}List`)
  const singular = asStringOrEmpty(getJsonFieldAtPath(names, 'singular')) || kind.toLowerCase()
  for (const [field, name, isLower] of [
    ['plural', asStringOrEmpty(getJsonFieldAtPath(names, 'plural')), true],
    ['singular', singular, true],
    ['kind', kind, false],
    ['listKind', listKind, false],
  ] as const)
    if (!isDnsLabel(isLower ? name : name.toLowerCase()))
      yield [['spec', 'names', field], `"${name}" is not a valid value for ${field}`]
  if (kind !== '' && kind === listKind)
    yield [['spec', 'names', 'listKind'], 'its kind and its listKind are the same']
  for (const field of ['shortNames', 'categories'])
    for (const [index, name] of asListOrEmpty(getJsonFieldAtPath(names, field)).entries())
      if (!isDnsLabel(asStringOrEmpty(name)))
        yield [['spec', 'names', field, index], `"${asStringOrEmpty(name)}" is not a valid entry of ${field}`]
}

const printerColumnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const printerColumnFormats = [
  '',
  'byte',
  'date',
  'date-time',
  'double',
  'float',
  'int32',
  'int64',
  'password',
]

/** Checks columns and scale, which v1beta1 also allows outside the versions. */
function* findPrinterColumnAndScaleProblems(
  part: Json | undefined,
  path: FieldPath,
  isOld: boolean,
): Generator<CrdValidationProblem> {
  for (const [index, column] of asListOrEmpty(
    getJsonFieldAtPath(part, 'additionalPrinterColumns'),
  ).entries()) {
    const columnPath = [...path, 'additionalPrinterColumns', index]
    const name = asStringOrEmpty(getJsonFieldAtPath(column, 'name'))
    if (name === '') yield [columnPath, 'one of its printer columns has no name']
    const type = asStringOrEmpty(getJsonFieldAtPath(column, 'type'))
    if (!printerColumnTypes.includes(type))
      yield [columnPath, `its printer column "${name}" has the unsupported type "${type}"`]
    const format = asStringOrEmpty(getJsonFieldAtPath(column, 'format'))
    if (!printerColumnFormats.includes(format))
      yield [columnPath, `its printer column "${name}" has the unsupported format "${format}"`]
    if (!asStringOrEmpty(getJsonFieldAtPath(column, isOld ? 'JSONPath' : 'jsonPath')).startsWith('.'))
      yield [columnPath, `the JSON path of its printer column "${name}" does not start with a dot`]
  }
  const scale = getJsonFieldAtPath(part, 'subresources', 'scale')
  if (scale === undefined || scale === null) return
  const scalePath = [...path, 'subresources', 'scale']
  if (!asStringOrEmpty(getJsonFieldAtPath(scale, 'specReplicasPath')).startsWith('.spec.'))
    yield [scalePath, 'its specReplicasPath does not start with .spec.']
  if (!asStringOrEmpty(getJsonFieldAtPath(scale, 'statusReplicasPath')).startsWith('.status.'))
    yield [scalePath, 'its statusReplicasPath does not start with .status.']
  const selector = asStringOrEmpty(getJsonFieldAtPath(scale, 'labelSelectorPath'))
  if (selector !== '' && !/^\.(?:spec|status)\./.test(selector))
    yield [scalePath, 'its labelSelectorPath starts with neither .spec. nor .status.']
}

function* findConversionProblems(spec: Json | undefined, isOld: boolean): Generator<CrdValidationProblem> {
  const conversion = getJsonFieldAtPath(spec, 'conversion')
  if (conversion === undefined || conversion === null) return
  const path = ['spec', 'conversion']
  const strategy = asStringOrEmpty(getJsonFieldAtPath(conversion, 'strategy'))
  const webhook = isOld ? conversion : getJsonFieldAtPath(conversion, 'webhook')
  const config = getJsonFieldAtPath(webhook, isOld ? 'webhookClientConfig' : 'clientConfig')
  const written = asListOrEmpty(getJsonFieldAtPath(webhook, 'conversionReviewVersions')).map(asStringOrEmpty)
  if (strategy !== 'Webhook') {
    if (strategy !== 'None')
      yield [[...path, 'strategy'], `its conversion strategy "${strategy}" is neither None nor Webhook`]
    if (config !== undefined && config !== null)
      yield [path, "it configures a conversion webhook, but its conversion strategy isn't Webhook"]
    if (written.length > 0)
      yield [path, "it lists conversionReviewVersions, but its conversion strategy isn't Webhook"]
    return
  }
  const reviews = isOld && written.length === 0 ? ['v1beta1'] : written
  if (!reviews.some((version) => version === 'v1' || version === 'v1beta1'))
    yield [path, 'its conversionReviewVersions list contains neither v1 nor v1beta1']
  if (new Set(reviews).size < reviews.length)
    yield [path, 'its conversionReviewVersions list contains a duplicate']
  const [url, service] = [getJsonFieldAtPath(config, 'url'), getJsonFieldAtPath(config, 'service')].map(
    (one) => one ?? undefined,
  )
  if ((url === undefined) === (service === undefined))
    yield [path, 'its conversion webhook must set either url or service, but not both']
  else if (url !== undefined && !/^https:\/\/[^/?#@]+(?:\/[^?#]*)?$/.test(asStringOrEmpty(url)))
    yield [
      path,
      'the URL of its conversion webhook must use https and must not contain a user name, query, or fragment',
    ]
  else if (service !== undefined) {
    if (
      asStringOrEmpty(getJsonFieldAtPath(service, 'name')) === '' ||
      asStringOrEmpty(getJsonFieldAtPath(service, 'namespace')) === ''
    )
      yield [path, 'the service of its conversion webhook must have a name and a namespace']
    const port = getJsonFieldAtPath(service, 'port') ?? 443
    if (typeof port !== 'number' || port < 1 || port > 65535)
      yield [path, 'the port of its conversion webhook is invalid']
    const servicePath = asStringOrEmpty(getJsonFieldAtPath(service, 'path'))
    if (servicePath !== '' && !servicePath.startsWith('/'))
      yield [path, 'the path of its conversion webhook does not start with /']
  }
}

const apiApprovalAnnotation = 'api-approved.kubernetes.io'

/** API groups of the Kubernetes community require an approval annotation. */
function* findApiApprovalProblems(crd: Json, group: string): Generator<CrdValidationProblem> {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return
  const annotation = asStringOrEmpty(
    getJsonFieldAtPath(crd, 'metadata', 'annotations', apiApprovalAnnotation),
  )
  if (annotation.startsWith('unapproved') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+\S*$/i.test(annotation)) return
  yield [
    ['metadata'],
    `its group "${group}" belongs to Kubernetes, so the annotation ${apiApprovalAnnotation} must be the URL of the API approval or start with "unapproved"`,
  ]
}
