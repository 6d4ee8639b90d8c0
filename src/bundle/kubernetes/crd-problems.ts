// `ValidateCustomResourceDefinition` of k8s.io/apiextensions-apiserver without schemas, after defaulting, as the
// validators of operator-framework/api call it.
import type { Json } from '../../go/json/json.ts'
import { toPlainJson } from '../../go/json/plain-json.ts'
import { withEntries, withItems, type Value } from '../../go/tree.ts'
import type { FieldPath } from '../bundle-locator.ts'
import { getField, asList, asString } from '../fields.ts'
import { isDnsLabel, isDnsSubdomain } from './names.ts'

export type CrdValidationProblem = readonly [FieldPath, string]

/** `tree` is the whole definition. */
export function* findCrdProblems(tree: Value, apiVersion: string): Generator<CrdValidationProblem> {
  // Schemas are most of the definition, and nothing here needs them.
  const crd = toPlainJson(withoutSchemas(tree))
  const isOld = apiVersion.endsWith('/v1beta1')
  const spec = getField(crd, 'spec')
  const group = asString(getField(spec, 'group'))
  yield* findCrdNameProblems(crd, group)
  if (!isDnsSubdomain(group)) yield [['spec', 'group'], `its group "${group}" is no domain name`]
  else if (!group.includes('.')) yield [['spec', 'group'], `its group "${group}" has no dot`]
  const scope = asString(getField(spec, 'scope')) || (isOld ? 'Namespaced' : '')
  if (!['Namespaced', 'Cluster'].includes(scope))
    yield [['spec', 'scope'], 'its scope is neither Namespaced nor Cluster']
  yield* findCrdVersionProblems(spec, isOld)
  yield* findAcceptedNamesProblems(getField(spec, 'names'))
  yield* findColumnAndScaleProblems(spec, ['spec'], isOld)
  yield* findConversionProblems(spec, isOld)
  yield* findApprovalProblems(crd, group)
  // v1beta1 preserves unknown fields by default.
  const preserves = getField(spec, 'preserveUnknownFields')
  if (preserves === true || (isOld && (preserves === undefined || preserves === null)))
    yield [
      preserves === true ? ['spec', 'preserveUnknownFields'] : ['spec'],
      `preserveUnknownFields ${preserves === true ? 'is true' : 'is missing, which means true in v1beta1'}; write false, and x-kubernetes-preserve-unknown-fields into the schema where it is needed`,
    ]
}

/** Replaces each schema with `true`. */
function withoutSchemas(value: Value): Value {
  if (value.kind === 'list') return withItems(value, value.items.map(withoutSchemas))
  if (value.kind !== 'map') return value
  return withEntries(
    value,
    value.entries.map((entry) =>
      entry.key === 'openAPIV3Schema' && entry.value.kind === 'map' && entry.value.entries.length > 0
        ? { ...entry, value: { kind: 'bool', value: true, start: entry.value.start, end: entry.value.end } }
        : { ...entry, value: withoutSchemas(entry.value) },
    ),
  )
}

function* findCrdNameProblems(crd: Json, group: string): Generator<CrdValidationProblem> {
  const name = asString(getField(crd, 'metadata', 'name'))
  const wanted = `${asString(getField(crd, 'spec', 'names', 'plural'))}.${group}`
  if (name !== wanted) yield [['metadata', 'name'], `its name is not "${wanted}"`]
}

function* findCrdVersionProblems(spec: Json | undefined, isOld: boolean): Generator<CrdValidationProblem> {
  const versions = asList(getField(spec, 'versions'))
  const single = asString(getField(spec, 'version'))
  const names = versions.map((version) => asString(getField(version, 'name')))
  if (isOld && single !== '') {
    if (!isDnsLabel(single)) yield [['spec', 'version'], `"${single}" cannot be a version`]
    if (names.length > 0 && names[0] !== single)
      yield [['spec', 'version'], 'its version is not the first of its versions']
    // A single version beside an empty list is served and stored.
    if (versions.length === 0) return
  }
  const stored = versions.filter((version) => getField(version, 'storage') === true).length
  if (stored !== 1) yield [['spec', 'versions'], `${stored} of its versions are stored, not one`]
  for (const [index, version] of versions.entries()) {
    const name = names[index] ?? ''
    const path = ['spec', 'versions', index]
    if (!isDnsLabel(name)) yield [[...path, 'name'], `"${name}" cannot be a version`]
    if (names.indexOf(name) !== index) yield [path, `it has the version "${name}" twice`]
    if (!isOld && getField(version, 'schema', 'openAPIV3Schema') !== true)
      yield [path, `its version "${name}" has no schema`]
    const warning = getField(version, 'deprecationWarning')
    if (typeof warning === 'string' && getField(version, 'deprecated') !== true)
      yield [[...path, 'deprecationWarning'], `its version "${name}" has a warning, and is not deprecated`]
    else if (
      typeof warning === 'string' &&
      (warning === '' || warning.length > 256 || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(warning))
    )
      yield [[...path, 'deprecationWarning'], `the warning of its version "${name}" cannot be shown`]
    yield* findColumnAndScaleProblems(version, path, isOld)
  }
}

function* findAcceptedNamesProblems(names: Json | undefined): Generator<CrdValidationProblem> {
  const kind = asString(getField(names, 'kind'))
  const listKind = asString(getField(names, 'listKind')) || (kind === '' ? '' : `${kind}List`)
  const singular = asString(getField(names, 'singular')) || kind.toLowerCase()
  for (const [field, name, isLower] of [
    ['plural', asString(getField(names, 'plural')), true],
    ['singular', singular, true],
    ['kind', kind, false],
    ['listKind', listKind, false],
  ] as const)
    if (!isDnsLabel(isLower ? name : name.toLowerCase()))
      yield [['spec', 'names', field], `"${name}" cannot be its ${field}`]
  if (kind !== '' && kind === listKind)
    yield [['spec', 'names', 'listKind'], 'its kind and its listKind are the same']
  for (const field of ['shortNames', 'categories'])
    for (const [index, name] of asList(getField(names, field)).entries())
      if (!isDnsLabel(asString(name)))
        yield [['spec', 'names', field, index], `"${asString(name)}" cannot be one of its ${field}`]
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

/** Columns and scale, which v1beta1 also allows beside the versions. */
function* findColumnAndScaleProblems(
  part: Json | undefined,
  path: FieldPath,
  isOld: boolean,
): Generator<CrdValidationProblem> {
  for (const [index, column] of asList(getField(part, 'additionalPrinterColumns')).entries()) {
    const columnPath = [...path, 'additionalPrinterColumns', index]
    const name = asString(getField(column, 'name'))
    if (name === '') yield [columnPath, 'one of its columns has no name']
    const type = asString(getField(column, 'type'))
    if (!printerColumnTypes.includes(type))
      yield [columnPath, `its column "${name}" has the type "${type}", which columns have not`]
    const format = asString(getField(column, 'format'))
    if (!printerColumnFormats.includes(format))
      yield [columnPath, `its column "${name}" has the format "${format}", which columns have not`]
    if (!asString(getField(column, isOld ? 'JSONPath' : 'jsonPath')).startsWith('.'))
      yield [columnPath, `its column "${name}" has no path that begins with a dot`]
  }
  const scale = getField(part, 'subresources', 'scale')
  if (scale === undefined || scale === null) return
  const scalePath = [...path, 'subresources', 'scale']
  if (!asString(getField(scale, 'specReplicasPath')).startsWith('.spec.'))
    yield [scalePath, 'specReplicasPath of its scale does not begin with .spec.']
  if (!asString(getField(scale, 'statusReplicasPath')).startsWith('.status.'))
    yield [scalePath, 'statusReplicasPath of its scale does not begin with .status.']
  const selector = asString(getField(scale, 'labelSelectorPath'))
  if (selector !== '' && !/^\.(?:spec|status)\./.test(selector))
    yield [scalePath, 'labelSelectorPath of its scale begins with neither .spec. nor .status.']
}

function* findConversionProblems(spec: Json | undefined, isOld: boolean): Generator<CrdValidationProblem> {
  const conversion = getField(spec, 'conversion')
  if (conversion === undefined || conversion === null) return
  const path = ['spec', 'conversion']
  const strategy = asString(getField(conversion, 'strategy'))
  const webhook = isOld ? conversion : getField(conversion, 'webhook')
  const config = getField(webhook, isOld ? 'webhookClientConfig' : 'clientConfig')
  const written = asList(getField(webhook, 'conversionReviewVersions')).map(asString)
  if (strategy !== 'Webhook') {
    if (strategy !== 'None')
      yield [[...path, 'strategy'], `its conversion is "${strategy}", neither None nor Webhook`]
    if (config !== undefined && config !== null)
      yield [path, 'it names a webhook for conversion, and does not use it']
    if (written.length > 0) yield [path, 'it names versions of conversion reviews, and uses no webhook']
    return
  }
  const reviews = isOld && written.length === 0 ? ['v1beta1'] : written
  if (!reviews.some((version) => version === 'v1' || version === 'v1beta1'))
    yield [path, 'its conversionReviewVersions have neither v1 nor v1beta1']
  if (new Set(reviews).size < reviews.length) yield [path, 'its conversionReviewVersions have one twice']
  const [url, service] = [getField(config, 'url'), getField(config, 'service')].map((one) => one ?? undefined)
  if ((url === undefined) === (service === undefined))
    yield [path, 'its webhook for conversion has not exactly one of url and service']
  else if (url !== undefined && !/^https:\/\/[^/?#@]+(?:\/[^?#]*)?$/.test(asString(url)))
    yield [path, 'the url of its webhook for conversion is not one of https, without a user and a query']
  else if (service !== undefined) {
    if (asString(getField(service, 'name')) === '' || asString(getField(service, 'namespace')) === '')
      yield [path, 'the service of its webhook for conversion has not both name and namespace']
    const port = getField(service, 'port') ?? 443
    if (typeof port !== 'number' || port < 1 || port > 65535)
      yield [path, 'the port of its webhook for conversion is none']
    const servicePath = asString(getField(service, 'path'))
    if (servicePath !== '' && !servicePath.startsWith('/'))
      yield [path, 'the path of its webhook for conversion does not begin with /']
  }
}

const approvalAnnotation = 'api-approved.kubernetes.io'

/** Groups of the Kubernetes community need an approval annotation. */
function* findApprovalProblems(crd: Json, group: string): Generator<CrdValidationProblem> {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return
  const annotation = asString(getField(crd, 'metadata', 'annotations', approvalAnnotation))
  if (annotation.startsWith('unapproved') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+\S*$/i.test(annotation)) return
  yield [
    ['metadata'],
    `its group "${group}" belongs to Kubernetes, and the annotation ${approvalAnnotation} has neither the address of an approval nor a reason that begins with "unapproved"`,
  ]
}
