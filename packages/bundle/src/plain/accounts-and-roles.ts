import { asObject } from '../fields.ts'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { CsvPermission } from './csv-view.ts'
import { createRenderedObject, watchesAllNamespaces, type GeneratorInput } from './generator-input.ts'
import { formatHashedName } from './object-name.ts'
import type { JsonObject, RenderedObject } from './rendering.ts'

const rbacApiGroup = 'rbac.authorization.k8s.io'

/** Sorted by name, because OLM defines no order. */
export function generateServiceAccounts(generation: GeneratorInput): readonly RenderedObject[] {
  const { csv, installNamespace: namespace } = generation
  const names = new Set([...csv.permissions, ...csv.clusterPermissions].map(({ account }) => account))
  // Every namespace already has this account.
  names.delete('default')
  return [...names]
    .sort()
    .map((name) => createRenderedObject(generation, ['v1', 'ServiceAccount'], { name, namespace }))
}

export function generateRoles(generation: GeneratorInput): readonly RenderedObject[] {
  if (watchesAllNamespaces(generation)) return []
  return generation.watchNamespaces.flatMap((namespace) =>
    generation.csv.permissions.flatMap((permission) =>
      createRoleAndBinding(generation, permission, namespace),
    ),
  )
}

/** An Operator that watches all namespaces gets all permissions in each of them and can list namespaces. */
export function generateClusterRoles(generation: GeneratorInput): readonly RenderedObject[] {
  const { csv } = generation
  const promoted = watchesAllNamespaces(generation) ? csv.permissions.map(addNamespaceReadRule) : []
  return [...csv.clusterPermissions, ...promoted].flatMap((permission) =>
    createRoleAndBinding(generation, permission),
  )
}

function addNamespaceReadRule(permission: CsvPermission): CsvPermission {
  const rule = { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['namespaces'] }
  const rules = [...permission.rules, rule]
  return { ...permission, rules, entry: { ...permission.entry, rules } }
}

function createRoleAndBinding(
  generation: GeneratorInput,
  { account, entry, rules }: CsvPermission,
  namespace?: string,
): readonly RenderedObject[] {
  const prefix = namespace === undefined ? 'Cluster' : ''
  const name = formatHashedName(`${generation.csv.name}-${account}`, orderFieldsForHash(entry))
  const metadata = { name, ...(namespace !== undefined && { namespace }) }
  return [
    createRenderedObject(generation, [`${rbacApiGroup}/v1`, `${prefix}Role`], metadata, { rules }),
    createRenderedObject(generation, [`${rbacApiGroup}/v1`, `${prefix}RoleBinding`], metadata, {
      subjects: [{ kind: 'ServiceAccount', namespace: generation.installNamespace, name: account }],
      roleRef: { apiGroup: rbacApiGroup, kind: `${prefix}Role`, name },
    }),
  ]
}

/** Uses the field order of OLM's types, which the hash depends on. */
function orderFieldsForHash(entry: JsonObject): Json {
  const { serviceAccountName = '', rules = null } = entry
  if (!Array.isArray(rules)) return { serviceAccountName, rules: null }
  return {
    serviceAccountName,
    rules: (rules as readonly Json[]).map((rule) => {
      const { verbs = null, ...others } = asObject(rule)
      const orderedFields = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'].flatMap(
        (field) => {
          const value = others[field]
          return Array.isArray(value) && value.length > 0 ? [[field, value as Json] as const] : []
        },
      )
      return { verbs, ...Object.fromEntries(orderedFields) }
    }),
  }
}
