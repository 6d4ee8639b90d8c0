// `ValidateCustomResourceDefinition` (k8s.io/apiextensions-apiserver) without schemas, as operator-framework calls it.
import { type Json, toPlainJson } from '@catalog-bot/fbc/go/json/json'
import { replaceMapEntries, replaceListItems, type ParsedValue } from '@catalog-bot/fbc/go/tree'
import type { FieldPath } from '../manifest-document.ts'
import {
  getJsonFieldAtPath,
  asStringOrEmpty,
  getListAtPath,
  getObjectAtPath,
  getStringAtPath,
} from '../fields.ts'

const dnsSubdomainPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const dnsLabelPattern = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/
const labelValuePattern = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/

/** Bytes of all keys and values. */
const maxAnnotationBytes = 256 * 1024

export type CrdValidationProblem = readonly [FieldPath, string]

/** `tree` is the whole definition. */
export function* findCrdProblems(tree: ParsedValue, apiVersion: string): Generator<CrdValidationProblem> {
  // Schemas make up most of the definition, and these checks don't need them.
  const crd = toPlainJson(replaceOpenApiSchemasWithTrue(tree))
  const isOld = apiVersion.endsWith('/v1beta1')
  const spec = getJsonFieldAtPath(crd, 'spec')
  const group = getStringAtPath(spec, 'group')
  yield* findCrdNameProblems(crd, group)
  if (!isDnsSubdomain(group)) yield [['spec', 'group'], `the group "${group}" is not a domain name`]
  else if (!group.includes('.')) yield [['spec', 'group'], `the group "${group}" has no dot`]
  const scope = getStringAtPath(spec, 'scope') || (isOld ? 'Namespaced' : '')
  if (!['Namespaced', 'Cluster'].includes(scope))
    yield [['spec', 'scope'], 'the scope is neither Namespaced nor Cluster']
  yield* findCrdVersionProblems(spec, isOld)
  yield* findCrdAcceptedNamesProblems(getJsonFieldAtPath(spec, 'names'))
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

function replaceOpenApiSchemasWithTrue(value: ParsedValue): ParsedValue {
  if (value.kind === 'list') return replaceListItems(value, value.items.map(replaceOpenApiSchemasWithTrue))
  if (value.kind !== 'map') return value
  return replaceMapEntries(
    value,
    value.entries.map((entry) =>
      entry.key === 'openAPIV3Schema' && entry.value.kind === 'map' && entry.value.entries.length > 0
        ? { ...entry, value: { kind: 'bool', value: true, start: entry.value.start, end: entry.value.end } }
        : { ...entry, value: replaceOpenApiSchemasWithTrue(entry.value) },
    ),
  )
}

function* findCrdNameProblems(crd: Json, group: string): Generator<CrdValidationProblem> {
  const name = getStringAtPath(crd, 'metadata', 'name')
  const expectedName = `${getStringAtPath(crd, 'spec', 'names', 'plural')}.${group}`
  if (name !== expectedName) yield [['metadata', 'name'], `the name is not "${expectedName}"`]
}

function* findCrdVersionProblems(spec: Json | undefined, isOld: boolean): Generator<CrdValidationProblem> {
  const versions = getListAtPath(spec, 'versions')
  const single = getStringAtPath(spec, 'version')
  const names = versions.map((version) => getStringAtPath(version, 'name'))
  if (isOld && single !== '') {
    if (!isDnsLabel(single)) yield [['spec', 'version'], `"${single}" is not a valid version name`]
    if (names.length > 0 && names[0] !== single)
      yield [['spec', 'version'], 'spec.version does not match the first entry in spec.versions']
    // With an empty list, the single version is served and stored.
    if (versions.length === 0) return
  }
  const stored = versions.filter((version) => getJsonFieldAtPath(version, 'storage') === true).length
  if (stored !== 1)
    yield [['spec', 'versions'], `spec.versions has ${stored} storage versions instead of one`]
  for (const [index, version] of versions.entries()) {
    const name = names[index] ?? ''
    const path = ['spec', 'versions', index]
    if (!isDnsLabel(name)) yield [[...path, 'name'], `"${name}" is not a valid version name`]
    if (names.indexOf(name) !== index) yield [path, `spec.versions lists "${name}" twice`]
    if (!isOld && getJsonFieldAtPath(version, 'schema', 'openAPIV3Schema') !== true)
      yield [path, `the version "${name}" has no schema`]
    const warning = getJsonFieldAtPath(version, 'deprecationWarning')
    if (typeof warning === 'string' && getJsonFieldAtPath(version, 'deprecated') !== true)
      yield [
        [...path, 'deprecationWarning'],
        `the version "${name}" has a deprecationWarning but is not deprecated`,
      ]
    else if (
      typeof warning === 'string' &&
      (warning === '' || warning.length > 256 || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(warning))
    )
      yield [
        [...path, 'deprecationWarning'],
        `the deprecationWarning of version "${name}" is empty, too long, or has invalid characters`,
      ]
    yield* findPrinterColumnAndScaleProblems(version, path, isOld)
  }
}

function* findCrdAcceptedNamesProblems(names: Json | undefined): Generator<CrdValidationProblem> {
  const kind = getStringAtPath(names, 'kind')
  const listKind = getStringAtPath(names, 'listKind') || (kind === '' ? '' : `${kind}List`)
  const singular = getStringAtPath(names, 'singular') || kind.toLowerCase()
  for (const [field, name, isLower] of [
    ['plural', getStringAtPath(names, 'plural'), true],
    ['singular', singular, true],
    ['kind', kind, false],
    ['listKind', listKind, false],
  ] as const)
    if (!isDnsLabel(isLower ? name : name.toLowerCase()))
      yield [['spec', 'names', field], `"${name}" is not a valid value for ${field}`]
  if (kind !== '' && kind === listKind)
    yield [['spec', 'names', 'listKind'], 'kind and listKind have the same value']
  for (const field of ['shortNames', 'categories'])
    for (const [index, name] of getListAtPath(names, field).entries())
      if (!isDnsLabel(asStringOrEmpty(name)))
        yield [['spec', 'names', field, index], `"${asStringOrEmpty(name)}" is not a valid entry in ${field}`]
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
  for (const [index, column] of getListAtPath(part, 'additionalPrinterColumns').entries()) {
    const columnPath = [...path, 'additionalPrinterColumns', index]
    const name = getStringAtPath(column, 'name')
    if (name === '') yield [columnPath, 'a printer column has no name']
    const type = getStringAtPath(column, 'type')
    if (!printerColumnTypes.includes(type))
      yield [columnPath, `the printer column "${name}" has the unsupported type "${type}"`]
    const format = getStringAtPath(column, 'format')
    if (!printerColumnFormats.includes(format))
      yield [columnPath, `the printer column "${name}" has the unsupported format "${format}"`]
    if (!getStringAtPath(column, isOld ? 'JSONPath' : 'jsonPath').startsWith('.'))
      yield [columnPath, `the JSON path of the printer column "${name}" does not start with a dot`]
  }
  const scale = getJsonFieldAtPath(part, 'subresources', 'scale')
  if (scale === undefined || scale === null) return
  const scalePath = [...path, 'subresources', 'scale']
  if (!getStringAtPath(scale, 'specReplicasPath').startsWith('.spec.'))
    yield [scalePath, 'specReplicasPath does not start with .spec.']
  if (!getStringAtPath(scale, 'statusReplicasPath').startsWith('.status.'))
    yield [scalePath, 'statusReplicasPath does not start with .status.']
  const selector = getStringAtPath(scale, 'labelSelectorPath')
  if (selector !== '' && !/^\.(?:spec|status)\./.test(selector))
    yield [scalePath, 'labelSelectorPath starts with neither .spec. nor .status.']
}

function* findConversionProblems(spec: Json | undefined, isOld: boolean): Generator<CrdValidationProblem> {
  const conversion = getJsonFieldAtPath(spec, 'conversion')
  if (conversion === undefined || conversion === null) return
  const path = ['spec', 'conversion']
  const strategy = getStringAtPath(conversion, 'strategy')
  const webhook = isOld ? conversion : getJsonFieldAtPath(conversion, 'webhook')
  const config = getJsonFieldAtPath(webhook, isOld ? 'webhookClientConfig' : 'clientConfig')
  const written = getListAtPath(webhook, 'conversionReviewVersions').map(asStringOrEmpty)
  if (strategy !== 'Webhook') {
    if (strategy !== 'None')
      yield [[...path, 'strategy'], `the conversion strategy "${strategy}" is neither None nor Webhook`]
    if (config !== undefined && config !== null)
      yield [path, "the CRD configures a conversion webhook, but its conversion strategy isn't Webhook"]
    if (written.length > 0)
      yield [path, "the CRD lists conversionReviewVersions, but its conversion strategy isn't Webhook"]
    return
  }
  const reviews = isOld && written.length === 0 ? ['v1beta1'] : written
  if (!reviews.some((version) => version === 'v1' || version === 'v1beta1'))
    yield [path, 'conversionReviewVersions contains neither v1 nor v1beta1']
  if (new Set(reviews).size < reviews.length) yield [path, 'conversionReviewVersions contains a duplicate']
  const [url, service] = [getJsonFieldAtPath(config, 'url'), getJsonFieldAtPath(config, 'service')].map(
    (one) => one ?? undefined,
  )
  if ((url === undefined) === (service === undefined))
    yield [path, 'the conversion webhook must set either url or service, but not both']
  else if (url !== undefined && !/^https:\/\/[^/?#@]+(?:\/[^?#]*)?$/.test(asStringOrEmpty(url)))
    yield [
      path,
      'the URL of the conversion webhook must use https and must not contain a user name, query, or fragment',
    ]
  else if (service !== undefined) {
    if (getStringAtPath(service, 'name') === '' || getStringAtPath(service, 'namespace') === '')
      yield [path, 'the service of the conversion webhook must have a name and a namespace']
    const port = getJsonFieldAtPath(service, 'port') ?? 443
    if (typeof port !== 'number' || port < 1 || port > 65535)
      yield [path, 'the port of the conversion webhook is invalid']
    const servicePath = getStringAtPath(service, 'path')
    if (servicePath !== '' && !servicePath.startsWith('/'))
      yield [path, 'the path of the conversion webhook does not start with /']
  }
}

const apiApprovalAnnotation = 'api-approved.kubernetes.io'

/** API groups of the Kubernetes community require an approval annotation. */
function* findApiApprovalProblems(crd: Json, group: string): Generator<CrdValidationProblem> {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return
  const annotation = getStringAtPath(crd, 'metadata', 'annotations', apiApprovalAnnotation)
  if (annotation.startsWith('unapproved') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+\S*$/i.test(annotation)) return
  yield [
    ['metadata'],
    `the group "${group}" belongs to Kubernetes, so the annotation ${apiApprovalAnnotation} must be set to the URL of the API approval or start with "unapproved"`,
  ]
}

// `ValidateObjectMeta` of k8s.io/apimachinery for objects without a namespace, as `opm alpha bundle validate` calls it.
export function* findMetadataProblems(object: Json): Generator<readonly [FieldPath, string]> {
  const metadata = getJsonFieldAtPath(object, 'metadata')
  if (getStringAtPath(metadata, 'name') === '') yield [['metadata'], 'the name is missing']
  const namespace = getStringAtPath(metadata, 'namespace')
  if (namespace !== '')
    yield [
      ['metadata', 'namespace'],
      `the object sets the namespace "${namespace}", but a bundle can't choose namespaces`,
    ]
  for (const [key, value] of Object.entries(getObjectAtPath(metadata, 'labels'))) {
    const path = ['metadata', 'labels', key]
    if (!isQualifiedName(key)) yield [path, `"${key}" is not a valid label key`]
    if (typeof value === 'string' ? !isLabelValue(value) : value !== null)
      yield [path, `the label "${key}" has an invalid value`]
  }
  let size = 0
  for (const [key, value] of Object.entries(getObjectAtPath(metadata, 'annotations'))) {
    const path = ['metadata', 'annotations', key]
    size += new TextEncoder().encode(key + asStringOrEmpty(value)).length
    if (!isQualifiedName(key.toLowerCase())) yield [path, `"${key}" is not a valid annotation key`]
    if (typeof value !== 'string' && value !== null) yield [path, `the annotation "${key}" is not a string`]
  }
  if (size > maxAnnotationBytes)
    yield [
      ['metadata', 'annotations'],
      `the annotations total ${size} bytes, but the limit is ${maxAnnotationBytes}`,
    ]
  for (const [index, finalizer] of getListAtPath(metadata, 'finalizers').entries())
    if (!isQualifiedName(asStringOrEmpty(finalizer)))
      yield [['metadata', 'finalizers', index], `"${asStringOrEmpty(finalizer)}" is not a valid finalizer`]
}

/** Kubernetes' name rules: `IsDNS1123Subdomain` and others in k8s.io/apimachinery. */
function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && dnsSubdomainPattern.test(text)
}

function isDnsLabel(text: string): boolean {
  return text.length <= 63 && dnsLabelPattern.test(text)
}

/** A label key: `name` or `example.com/name`. Annotations also allow uppercase before the slash. */
function isQualifiedName(text: string): boolean {
  const [first = '', second, ...more] = text.split('/')
  if (more.length > 0) return false
  const name = second ?? first
  return (second === undefined || isDnsSubdomain(first)) && name.length <= 63 && labelValuePattern.test(name)
}

function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && labelValuePattern.test(text))
}
