// `ValidateCustomResourceDefinition` of k8s.io/apiextensions-apiserver without schemas, after defaulting, as the
// validators of operator-framework/api call it.
import type { Json } from '../../go/json/json.ts'
import { plainJson } from '../../go/json/plain-json.ts'
import { withEntries, withItems, type Value } from '../../go/tree.ts'
import type { Path } from '../bundle-places.ts'
import { at, listOf, textOf } from '../fields.ts'
import { isDnsLabel, isSubdomain } from './names.ts'

export type Problem = readonly [Path, string]

/** `tree` is the whole definition. */
export function* crdProblems(tree: Value, apiVersion: string): Generator<Problem> {
  // Schemas are most of the definition, and nothing here needs them.
  const crd = plainJson(withoutSchemas(tree))
  const isOld = apiVersion.endsWith('/v1beta1')
  const spec = at(crd, 'spec')
  const group = textOf(at(spec, 'group'))
  yield* nameProblems(crd, group)
  if (!isSubdomain(group)) yield [['spec', 'group'], `its group "${group}" is no domain name`]
  else if (!group.includes('.')) yield [['spec', 'group'], `its group "${group}" has no dot`]
  const scope = textOf(at(spec, 'scope')) || (isOld ? 'Namespaced' : '')
  if (!['Namespaced', 'Cluster'].includes(scope))
    yield [['spec', 'scope'], 'its scope is neither Namespaced nor Cluster']
  yield* versionProblems(spec, isOld)
  yield* namesProblems(at(spec, 'names'))
  yield* partProblems(spec, ['spec'], isOld)
  yield* conversionProblems(spec, isOld)
  yield* approvalProblems(crd, group)
  // v1beta1 preserves unknown fields by default.
  const preserves = at(spec, 'preserveUnknownFields')
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

function* nameProblems(crd: Json, group: string): Generator<Problem> {
  const name = textOf(at(crd, 'metadata', 'name'))
  const wanted = `${textOf(at(crd, 'spec', 'names', 'plural'))}.${group}`
  if (name !== wanted) yield [['metadata', 'name'], `its name is not "${wanted}"`]
}

function* versionProblems(spec: Json | undefined, isOld: boolean): Generator<Problem> {
  const versions = listOf(at(spec, 'versions'))
  const single = textOf(at(spec, 'version'))
  const names = versions.map((version) => textOf(at(version, 'name')))
  if (isOld && single !== '') {
    if (!isDnsLabel(single)) yield [['spec', 'version'], `"${single}" cannot be a version`]
    if (names.length > 0 && names[0] !== single)
      yield [['spec', 'version'], 'its version is not the first of its versions']
    // A single version beside an empty list is served and stored.
    if (versions.length === 0) return
  }
  const stored = versions.filter((version) => at(version, 'storage') === true).length
  if (stored !== 1) yield [['spec', 'versions'], `${stored} of its versions are stored, not one`]
  for (const [index, version] of versions.entries()) {
    const name = names[index] ?? ''
    const path = ['spec', 'versions', index]
    if (!isDnsLabel(name)) yield [[...path, 'name'], `"${name}" cannot be a version`]
    if (names.indexOf(name) !== index) yield [path, `it has the version "${name}" twice`]
    if (!isOld && at(version, 'schema', 'openAPIV3Schema') !== true)
      yield [path, `its version "${name}" has no schema`]
    const warning = at(version, 'deprecationWarning')
    if (typeof warning === 'string' && at(version, 'deprecated') !== true)
      yield [[...path, 'deprecationWarning'], `its version "${name}" has a warning, and is not deprecated`]
    else if (
      typeof warning === 'string' &&
      (warning === '' || warning.length > 256 || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(warning))
    )
      yield [[...path, 'deprecationWarning'], `the warning of its version "${name}" cannot be shown`]
    yield* partProblems(version, path, isOld)
  }
}

function* namesProblems(names: Json | undefined): Generator<Problem> {
  const kind = textOf(at(names, 'kind'))
  const listKind = textOf(at(names, 'listKind')) || (kind === '' ? '' : `${kind}List`)
  const singular = textOf(at(names, 'singular')) || kind.toLowerCase()
  for (const [field, name, isLower] of [
    ['plural', textOf(at(names, 'plural')), true],
    ['singular', singular, true],
    ['kind', kind, false],
    ['listKind', listKind, false],
  ] as const)
    if (!isDnsLabel(isLower ? name : name.toLowerCase()))
      yield [['spec', 'names', field], `"${name}" cannot be its ${field}`]
  if (kind !== '' && kind === listKind)
    yield [['spec', 'names', 'listKind'], 'its kind and its listKind are the same']
  for (const field of ['shortNames', 'categories'])
    for (const [index, name] of listOf(at(names, field)).entries())
      if (!isDnsLabel(textOf(name)))
        yield [['spec', 'names', field, index], `"${textOf(name)}" cannot be one of its ${field}`]
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['', 'byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

/** Columns and scale, which v1beta1 also allows beside the versions. */
function* partProblems(part: Json | undefined, path: Path, isOld: boolean): Generator<Problem> {
  for (const [index, column] of listOf(at(part, 'additionalPrinterColumns')).entries()) {
    const place = [...path, 'additionalPrinterColumns', index]
    const name = textOf(at(column, 'name'))
    if (name === '') yield [place, 'one of its columns has no name']
    const type = textOf(at(column, 'type'))
    if (!columnTypes.includes(type))
      yield [place, `its column "${name}" has the type "${type}", which columns have not`]
    const format = textOf(at(column, 'format'))
    if (!columnFormats.includes(format))
      yield [place, `its column "${name}" has the format "${format}", which columns have not`]
    if (!textOf(at(column, isOld ? 'JSONPath' : 'jsonPath')).startsWith('.'))
      yield [place, `its column "${name}" has no path that begins with a dot`]
  }
  const scale = at(part, 'subresources', 'scale')
  if (scale === undefined || scale === null) return
  const place = [...path, 'subresources', 'scale']
  if (!textOf(at(scale, 'specReplicasPath')).startsWith('.spec.'))
    yield [place, 'specReplicasPath of its scale does not begin with .spec.']
  if (!textOf(at(scale, 'statusReplicasPath')).startsWith('.status.'))
    yield [place, 'statusReplicasPath of its scale does not begin with .status.']
  const selector = textOf(at(scale, 'labelSelectorPath'))
  if (selector !== '' && !/^\.(?:spec|status)\./.test(selector))
    yield [place, 'labelSelectorPath of its scale begins with neither .spec. nor .status.']
}

function* conversionProblems(spec: Json | undefined, isOld: boolean): Generator<Problem> {
  const conversion = at(spec, 'conversion')
  if (conversion === undefined || conversion === null) return
  const path = ['spec', 'conversion']
  const strategy = textOf(at(conversion, 'strategy'))
  const webhook = isOld ? conversion : at(conversion, 'webhook')
  const config = at(webhook, isOld ? 'webhookClientConfig' : 'clientConfig')
  const written = listOf(at(webhook, 'conversionReviewVersions')).map(textOf)
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
  const [url, service] = [at(config, 'url'), at(config, 'service')].map((one) => one ?? undefined)
  if ((url === undefined) === (service === undefined))
    yield [path, 'its webhook for conversion has not exactly one of url and service']
  else if (url !== undefined && !/^https:\/\/[^/?#@]+(?:\/[^?#]*)?$/.test(textOf(url)))
    yield [path, 'the url of its webhook for conversion is not one of https, without a user and a query']
  else if (service !== undefined) {
    if (textOf(at(service, 'name')) === '' || textOf(at(service, 'namespace')) === '')
      yield [path, 'the service of its webhook for conversion has not both name and namespace']
    const port = at(service, 'port') ?? 443
    if (typeof port !== 'number' || port < 1 || port > 65535)
      yield [path, 'the port of its webhook for conversion is none']
    const servicePath = textOf(at(service, 'path'))
    if (servicePath !== '' && !servicePath.startsWith('/'))
      yield [path, 'the path of its webhook for conversion does not begin with /']
  }
}

const approved = 'api-approved.kubernetes.io'

/** Groups of the Kubernetes community need an approval annotation. */
function* approvalProblems(crd: Json, group: string): Generator<Problem> {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return
  const annotation = textOf(at(crd, 'metadata', 'annotations', approved))
  if (annotation.startsWith('unapproved') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+\S*$/i.test(annotation)) return
  yield [
    ['metadata'],
    `its group "${group}" belongs to Kubernetes, and the annotation ${approved} has neither the address of an approval nor a reason that begins with "unapproved"`,
  ]
}
