import { objectOf } from '../fields.ts'
import type { Json } from '../../go/json/json.ts'
import type { Permission } from './csv-view.ts'
import { generated, watchesAll, type Generation } from './generation.ts'
import { uniqueName } from './object-name.ts'
import type { JsonObject, PlainObject } from './rendering.ts'

const rbac = 'rbac.authorization.k8s.io'

/** Sorted by name, because OLM defines no order. */
export function serviceAccounts(generation: Generation): readonly PlainObject[] {
  const { csv, installNamespace: namespace } = generation
  const names = new Set([...csv.permissions, ...csv.clusterPermissions].map(({ account }) => account))
  // Every namespace already has this account.
  names.delete('default')
  return [...names].sort().map((name) => generated(generation, ['v1', 'ServiceAccount'], { name, namespace }))
}

export function roles(generation: Generation): readonly PlainObject[] {
  if (watchesAll(generation)) return []
  return generation.watchNamespaces.flatMap((namespace) =>
    generation.csv.permissions.flatMap((permission) => roleAndBinding(generation, permission, namespace)),
  )
}

/** An operator that watches all namespaces gets all permissions in all of them and can list namespaces. */
export function clusterRoles(generation: Generation): readonly PlainObject[] {
  const { csv } = generation
  const promoted = watchesAll(generation) ? csv.permissions.map(withNamespaces) : []
  return [...csv.clusterPermissions, ...promoted].flatMap((permission) =>
    roleAndBinding(generation, permission),
  )
}

function withNamespaces(permission: Permission): Permission {
  const rule = { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['namespaces'] }
  const rules = [...permission.rules, rule]
  return { ...permission, rules, entry: { ...permission.entry, rules } }
}

function roleAndBinding(
  generation: Generation,
  { account, entry, rules }: Permission,
  namespace?: string,
): readonly PlainObject[] {
  const prefix = namespace === undefined ? 'Cluster' : ''
  const name = uniqueName(`${generation.csv.name}-${account}`, hashed(entry))
  const metadata = { name, ...(namespace !== undefined && { namespace }) }
  return [
    generated(generation, [`${rbac}/v1`, `${prefix}Role`], metadata, { rules }),
    generated(generation, [`${rbac}/v1`, `${prefix}RoleBinding`], metadata, {
      subjects: [{ kind: 'ServiceAccount', namespace: generation.installNamespace, name: account }],
      roleRef: { apiGroup: rbac, kind: `${prefix}Role`, name },
    }),
  ]
}

/** Uses the field order of OLM's types, which the hash depends on. */
function hashed(entry: JsonObject): Json {
  const { serviceAccountName = '', rules = null } = entry
  if (!Array.isArray(rules)) return { serviceAccountName, rules: null }
  return {
    serviceAccountName,
    rules: (rules as readonly Json[]).map((rule) => {
      const { verbs = null, ...others } = objectOf(rule)
      const kept = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'].flatMap((field) => {
        const value = others[field]
        return Array.isArray(value) && value.length > 0 ? [[field, value as Json] as const] : []
      })
      return { verbs, ...Object.fromEntries(kept) }
    }),
  }
}
