import { defineRule } from '../../findings/rule.ts'
import type { Json } from '../../go/json/json.ts'
import type { Path } from '../bundle-places.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, listOf, objectOf, textOf } from '../fields.ts'

export const brokenCrd = defineRule<{ crd: string; problem: string }, OfBundle>({
  id: 'broken-crd',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'CustomResourceDefinitions are such that an API server takes them',
  say: ({ crd, problem }) => ({
    what: `the CustomResourceDefinition ${crd} is refused by API servers: ${problem}`,
    why: 'The install plan fails, and with it the Operator.',
    fix: 'Correct the manifest, as `kubectl apply --dry-run=server` would demand it.',
  }),
  *find({ crds }) {
    for (const { file, name, data, apiVersion } of crds)
      for (const [path, problem] of problems(name, data, apiVersion))
        yield { file, path, data: { crd: name, problem } }
  },
})

function* problems(name: string, crd: Json, apiVersion: string): Generator<readonly [Path, string]> {
  const plural = textOf(at(crd, 'spec', 'names', 'plural'))
  const group = textOf(at(crd, 'spec', 'group'))
  if (name !== `${plural}.${group}`) yield [['metadata', 'name'], `its name is not "${plural}.${group}"`]
  if (!['Namespaced', 'Cluster'].includes(textOf(at(crd, 'spec', 'scope'))) && apiVersion.endsWith('/v1'))
    yield [['spec', 'scope'], 'its scope is neither Namespaced nor Cluster']
  const versions = listOf(at(crd, 'spec', 'versions'))
  // v1beta1 may name one version beside the list, which is then served and stored.
  if (versions.length === 0 && apiVersion.endsWith('/v1beta1') && textOf(at(crd, 'spec', 'version')) !== '')
    return
  const stored = versions.filter((version) => at(version, 'storage') === true).length
  if (stored !== 1) yield [['spec', 'versions'], `${stored} of its versions are stored, not one`]
  const names = versions.map((version) => textOf(at(version, 'name')))
  for (const [index, version] of versions.entries()) {
    const own = names[index] ?? ''
    if (names.indexOf(own) !== index) yield [['spec', 'versions', index], `it has the version "${own}" twice`]
    const schema = objectOf(at(version, 'schema', 'openAPIV3Schema'))
    if (apiVersion.endsWith('/v1') && Object.keys(schema).length === 0)
      yield [['spec', 'versions', index], `its version "${own}" has no schema`]
  }
}
