// Rules about the objects next to the ClusterServiceVersion.
import { getMapValue, type ParsedValue } from '@catalog-bot/fbc/go/tree'
import { defineBundleRule } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asStringOrEmpty, getListAtPath } from '../fields.ts'
import { findMetadataProblems } from '../kubernetes/crd-problems.ts'
import { convertParsedValueToJson, formatUntypedObjectAsGoJson } from '../manifest-document.ts'
import { computeUtf8ByteLength } from '@catalog-bot/fbc/go/utf8'

// etcd's default request limit.
const maxManifestBytes = 1_572_864

export const oversizedManifestRule = defineBundleRule<{ file: string; bytes: number; limit: number }>({
  id: 'oversized-manifest',
  severity: 'warning',
  title: 'Every manifest fits in a single request to the API server',
  what: ({ file, bytes, limit }) =>
    `${file} is ${bytes} bytes when converted to JSON, but the limit is ${limit}`,
  why: 'The API server rejects a request that is too large, even if the packed bundle is small.',
  fix: 'Remove descriptions from schemas, or split the object.',
  *find({ objects }) {
    for (const { file, tree } of objects) {
      if (estimateMaxJsonBytes(tree, maxManifestBytes) <= maxManifestBytes) continue
      const bytes = computeUtf8ByteLength(formatUntypedObjectAsGoJson(tree))
      if (bytes > maxManifestBytes) yield { file, data: { file, bytes, limit: maxManifestBytes } }
    }
  },
})

/** Upper bounds in JSON: bytes per UTF-16 code unit, and per number or boolean including its comma. */
const maxJsonBytesByScalarType = { unit: 6, number: 32, switch: 6 }

/** Deeper than any manifest. Deeper values are measured by writing them out. */
const maxManifestDepth = 100

export const brokenObjectMetadataRule = defineBundleRule<{
  file: string
  kind: string
  name: string
  problem: string
  isNamespace: boolean
}>({
  id: 'broken-object-metadata',
  severity: 'error',
  title: 'Manifests have valid metadata',
  // OLM replaces the namespace.
  isWarning: ({ isNamespace }) => isNamespace,
  what: ({ kind, name, problem }) => `the ${`${kind} ${name}`.trimEnd()} has invalid metadata: ${problem}`,
  why: '`opm alpha bundle validate` rejects the bundle. OLM sets the namespace of the objects that it creates.',
  fix: 'Correct the metadata, or remove the field.',
  *find({ objects }) {
    for (const { file, kind, name, tree } of objects) {
      if (kind === 'ClusterServiceVersion') continue
      const metadata = convertParsedValueToJson(getMapValue(tree, 'metadata'))
      for (const [path, problem] of findMetadataProblems(metadata === undefined ? {} : { metadata }))
        yield { file, path, data: { file, kind, name, problem, isNamespace: path.at(-1) === 'namespace' } }
    }
  },
})

export const globalDefaultPriorityRule = defineBundleRule<{ name: string }>({
  id: 'global-default-priority',
  severity: 'error',
  suite: 'objects',
  title: "A bundle doesn't set the cluster's default priority",
  what: ({ name }) => `the PriorityClass ${name} is the default for the entire cluster`,
  why: 'Every pod without a priority class gets the default priority, including pods of other applications.',
  fix: 'Set globalDefault to false.',
  *find({ objects }) {
    for (const object of objects)
      if (object.kind === 'PriorityClass' && getJsonFieldAtPath(object.data, 'globalDefault') === true)
        yield { file: object.file, path: ['globalDefault'], data: { name: object.name } }
  },
})

export const blockingDisruptionBudgetRule = defineBundleRule<{ name: string; field: string; value: string }>({
  id: 'blocking-disruption-budget',
  severity: 'error',
  suite: 'objects',
  title: 'PodDisruptionBudgets allow nodes to be drained',
  what: ({ name, field, value }) => `the PodDisruptionBudget ${name} sets ${field} to ${value}`,
  why: "Nodes that run the protected pods can't be drained, which blocks cluster upgrades.",
  fix: 'Allow at least one pod to be unavailable.',
  *find({ objects }) {
    for (const object of objects) {
      const { file, kind, name } = object
      if (kind !== 'PodDisruptionBudget') continue
      for (const [field, blocking] of [
        ['maxUnavailable', [0, '0', '0%']],
        ['minAvailable', ['100%']],
      ] as const) {
        const value = getJsonFieldAtPath(object.data, 'spec', field)
        if ((blocking as readonly unknown[]).includes(value))
          yield {
            file,
            path: ['spec', field],
            data: { name, field, value: typeof value === 'number' ? String(value) : asStringOrEmpty(value) },
          }
      }
    }
  },
})

const defaultSccNames = [
  'privileged',
  'restricted',
  'anyuid',
  'hostaccess',
  'hostmount-anyuid',
  'hostnetwork',
  'node-exporter',
  'nonroot',
]
export const riskyPermissionRule = defineBundleRule<{ name: string; what: string }>({
  id: 'risky-permission',
  severity: 'warning',
  suite: 'objects',
  title: "Roles don't allow changes to cluster-wide safeguards",
  what: ({ name, what }) => `the role ${name} can change ${what}`,
  why: 'Changes to cluster-wide safeguards can affect pods of other applications.',
  fix: 'Remove this permission from the role.',
  *find({ objects }) {
    for (const object of objects) {
      const { file, kind, name } = object
      if (kind !== 'Role' && kind !== 'ClusterRole') continue
      for (const [index, rule] of getListAtPath(object.data, 'rules').entries()) {
        const ruleIncludes = (field: string, values: readonly string[]) =>
          getListAtPath(rule, field).some((entry) => values.includes(asStringOrEmpty(entry)))
        const hit = (what: string) => ({ file, path: ['rules', index], data: { name, what } })
        if (
          ruleIncludes('apiGroups', ['policy']) &&
          ruleIncludes('resources', ['poddisruptionbudgets']) &&
          ruleIncludes('verbs', ['*', 'create', 'update', 'patch'])
        )
          yield hit('disruption budgets')
        if (
          ruleIncludes('apiGroups', ['security.openshift.io']) &&
          ruleIncludes('resources', ['securitycontextconstraints']) &&
          ruleIncludes('verbs', ['*', 'delete', 'update', 'patch']) &&
          ruleIncludes('resourceNames', defaultSccNames)
        )
          yield hit('the default security context constraints')
      }
    }
  },
})

/** An upper bound for the size of the value's JSON; stops counting at `enough`. Much faster than writing it out. */
function estimateMaxJsonBytes(value: ParsedValue, enough: number, depth = 0): number {
  if (depth > maxManifestDepth) return Infinity
  switch (value.kind) {
    case 'string':
      return maxJsonBytesByScalarType.unit * value.value.length + 3
    case 'number':
      return Math.max(maxJsonBytesByScalarType.number, value.text.length + 1)
    case 'list': {
      let bytes = 3
      for (const item of value.items)
        if (bytes <= enough) bytes += estimateMaxJsonBytes(item, enough - bytes, depth + 1)
      return bytes
    }
    case 'map': {
      let bytes = 3
      for (const { key, value: inner } of value.entries)
        if (bytes <= enough)
          bytes +=
            maxJsonBytesByScalarType.unit * key.length +
            4 +
            estimateMaxJsonBytes(inner, enough - bytes, depth + 1)
      return bytes
    }
    case 'bool':
    case 'null':
      return maxJsonBytesByScalarType.switch
  }
}
