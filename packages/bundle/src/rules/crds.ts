// Rules about CustomResourceDefinitions and the permissions to manage them.
import { getMapValue } from '@catalog-bot/fbc/go/tree'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { defineBundleRule } from '../bundle-rule.ts'
import { findCrdProblems } from '../kubernetes/crd-problems.ts'
import { getApisDefinedByCrds, type ManifestObject } from '../registry-bundle.ts'
import { asStringOrEmpty, getListAtPath, getStringAtPath, listEntriesAtPath } from '../fields.ts'
import { convertParsedValueToJson } from '../manifest-document.ts'

export const managesCrdsRule = defineBundleRule<{ account: string }>({
  id: 'manages-crds',
  severity: 'warning',
  suite: 'good-practices',
  title: 'Operators leave CRD management to OLM',
  what: ({ account }) => `the service account "${account}" can create or patch CRDs`,
  why: "An Operator that installs other Operators bypasses OLM, so OLM can't upgrade or remove those Operators.",
  fix: 'Instead of installing another Operator, declare a dependency on it.',
  *find({ csv }) {
    for (const list of ['permissions', 'clusterPermissions'])
      for (const [path, entry] of listEntriesAtPath(csv.data, 'spec', 'install', 'spec', list))
        for (const [position, rule] of getListAtPath(entry, 'rules').entries())
          if (grantsCrdManagement(rule))
            yield {
              path: [...path, 'rules', position],
              data: { account: getStringAtPath(entry, 'serviceAccountName') },
            }
  },
})

export const unservedOwnedCrdRule = defineBundleRule<{ crd: string; version: string }>({
  id: 'unserved-owned-crd',
  severity: 'error',
  title: 'CRDs serve the versions that the bundle owns',
  what: ({ crd, version }) => `the owned CRD ${crd} does not serve version ${version}`,
  why: 'OLM waits for an API that never becomes available, so the ClusterServiceVersion remains Pending.',
  fix: 'Serve the owned version in the CRD, or list a different version as owned.',
  *find({ csv, crds }) {
    for (const [path, owned] of listCrdDescriptions(csv, 'owned')) {
      const [crd, version] = [getStringAtPath(owned, 'name'), getStringAtPath(owned, 'version')]
      const found = crds
        .filter(({ name }) => name === crd)
        .flatMap(({ tree }) => {
          const versions = getMapValue(getMapValue(tree, 'spec'), 'versions')
          return versions?.kind === 'list' ? versions.items : []
        })
        .find((entry) => convertParsedValueToJson(getMapValue(entry, 'name')) === version)
      if (found !== undefined && convertParsedValueToJson(getMapValue(found, 'served')) !== true)
        yield { path, data: { crd, version } }
    }
  },
})

export const undescribedCrdRule = defineBundleRule<{ crd: string }>({
  id: 'undescribed-crd',
  severity: 'warning',
  suite: 'good-practices',
  title: 'CRDs have a description',
  what: ({ crd }) => `the CRD ${crd} has no description`,
  why: 'Consoles show an empty line instead of a description when users choose what to create.',
  fix: 'Add a description to the entry of the CRD in spec.customresourcedefinitions.',
  *find({ csv }) {
    for (const list of ['owned', 'required'])
      for (const [path, entry] of listCrdDescriptions(csv, list))
        if (getStringAtPath(entry, 'description') === '')
          yield { path, data: { crd: getStringAtPath(entry, 'name') } }
  },
})

export const groupInOwnedCrdRule = defineBundleRule<{ crd: string; group: string }>({
  id: 'group-in-owned-crd',
  severity: 'warning',
  title: "Owned CRDs don't set `group`",
  what: ({ crd, group }) => `the owned CRD ${crd} sets group to "${group}"`,
  why: "If the group field is set, `opm alpha bundle validate` doesn't find the CRD in the bundle and rejects the bundle.",
  fix: 'Remove the group field. The CRD name already contains the group.',
  *find({ csv }) {
    for (const [path, entry] of listCrdDescriptions(csv, 'owned')) {
      const group = getStringAtPath(entry, 'group')
      if (group !== '')
        yield { path: [...path, 'group'], data: { crd: getStringAtPath(entry, 'name'), group } }
    }
  },
})

export const duplicateCrdRule = defineBundleRule<{ api: string; first: string }>({
  id: 'duplicate-crd',
  severity: 'error',
  title: 'A bundle defines each API once',
  what: ({ api, first }) => `the API ${api} is also defined in ${first}`,
  why: 'OLM applies both definitions in an unpredictable order, and the last one wins.',
  fix: 'Remove one of the two definitions.',
  *find({ crds }) {
    const seen = new Map<string, string>()
    for (const crd of crds)
      for (const { group, version, kind } of getApisDefinedByCrds([crd])) {
        const api = `${group}/${version} ${kind}`
        const first = seen.get(api)
        // Another rule covers several versions in one file.
        if (first !== undefined && first !== crd.file) yield { file: crd.file, data: { api, first } }
        seen.set(api, first ?? crd.file)
      }
  },
})

export const brokenCrdRule = defineBundleRule<{ crd: string; problem: string }>({
  id: 'broken-crd',
  severity: 'error',
  title: 'CustomResourceDefinitions are valid',
  what: ({ crd, problem }) => `the CustomResourceDefinition ${crd} is invalid: ${problem}`,
  why: 'The API server rejects the CRD, so the install plan fails.',
  fix: 'Correct the manifest. To verify the result, run `kubectl apply --dry-run=server`.',
  *find({ crds }) {
    for (const { file, name, tree, apiVersion } of crds)
      for (const [path, problem] of findCrdProblems(tree, apiVersion))
        yield { file, path, data: { crd: name, problem } }
  },
})

function listCrdDescriptions({ data }: ManifestObject, list: string) {
  return listEntriesAtPath(data, 'spec', 'customresourcedefinitions', list)
}

function grantsCrdManagement(rule: Json): boolean {
  const has = (field: string, ...values: string[]) =>
    getListAtPath(rule, field).some((entry) => values.includes(asStringOrEmpty(entry)))
  return (
    has('apiGroups', 'apiextensions.k8s.io') &&
    has('resources', 'customresourcedefinitions', '*', '[*]') &&
    has('verbs', 'create', 'patch', '*', '[*]')
  )
}
