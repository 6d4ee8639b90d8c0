// Reading the upgrade facts of a bundle without positions gives the same values as reading them with positions.
import { describe, expect, test } from '@jest/globals'
import {
  readBundleUpgradeMetadata,
  type BundleUpgradeMetadata,
  type LocatedString,
} from '../../../packages/bundle/src/bundle-upgrade-metadata.ts'

const createBundleWithCsv = (
  csv: string,
  annotations = 'annotations: {operators.operatorframework.io.bundle.package.v1: foo}\n',
) =>
  new Map([
    ['manifests/a.yaml', Buffer.from('kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\n')],
    ['manifests/foo.clusterserviceversion.yaml', Buffer.from(csv)],
    ['metadata/annotations.yaml', Buffer.from(annotations)],
  ])

function formatBundleUpgradeMetadata(facts: BundleUpgradeMetadata) {
  const text = (said: LocatedString | undefined) => said?.text
  const { name, version, replaces, skips, skipRange, channels, defaultChannel } = facts
  return {
    ...{ name: text(name), version: text(version), replaces: text(replaces), skipRange: text(skipRange) },
    ...{ skips: skips.map(text), channels: channels.map(text), defaultChannel: text(defaultChannel) },
    package: text(facts.package),
  }
}

const createCsvYaml = (spec: string, head = '') => `${head}apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  annotations:
    olm.skipRange: '>=1.0.0 <2.0.0'
    alm-examples: |-
      [{"kind": "Foo"}]
  name: foo.v2.0.0
spec:
${spec}`

describe('facts without positions', () => {
  test.each([
    [
      'plain fields',
      createCsvYaml('  replaces: foo.v1.0.0\n  version: 2.0.0\n  skips:\n  - foo.v1.5.0\n  - "foo.v1.6.0"\n'),
    ],
    [
      'fields of other types',
      createCsvYaml('  replaces: 1.0\n  version: 2\n  skips:\n  - 3\n  - yes\n  - null\n'),
    ],
    ['a flow list', createCsvYaml('  skips: [foo.v1.5.0, foo.v1.6.0]\n')],
    ['an anchor', createCsvYaml('  replaces: &a foo.v1.0.0\n  skips:\n  - *a\n')],
    ['a duplicate key', createCsvYaml('  replaces: foo.v1.0.0\n  replaces: foo.v1.1.0\n')],
    ['a merge key', createCsvYaml('  <<: {replaces: foo.v1.0.0}\n')],
    ['JSON', '{"kind":"ClusterServiceVersion","metadata":{"name":"foo.v1"},"spec":{"skips":["x"]}}'],
    [
      'several documents',
      createCsvYaml('  replaces: foo.v1.0.0\n---\nkind: ClusterServiceVersion\nmetadata: {name: other}\n'),
    ],
    ['a leading empty document', `---\n---\n${createCsvYaml('  replaces: foo.v1.0.0\n')}`],
    ['a leading separator', createCsvYaml('  replaces: foo.v1.0.0\n', '---\n')],
    ['a comment and a byte order mark', createCsvYaml('  replaces: foo.v1.0.0 # x\n', '\ufeff# y\n')],
    ['carriage returns', createCsvYaml('  replaces: foo.v1.0.0\n').replaceAll('\n', '\r\n')],
    ['no trailing newline', createCsvYaml('  replaces: foo.v1.0.0')],
    ['an unreadable document', createCsvYaml('  replaces: "foo\n')],
    ['bytes that are not text', createCsvYaml('  replaces: foo\u0001\n')],
    ['an API version with three parts', createCsvYaml('').replace('operators.coreos.com/v1alpha1', 'a/b/c')],
    ['no kind', createCsvYaml('').replace('kind: ClusterServiceVersion\n', '')],
    ['an empty file', ''],
  ])('equal those with positions: %s', (_, text) => {
    const files = () => createBundleWithCsv(text)
    expect(formatBundleUpgradeMetadata(readBundleUpgradeMetadata(files(), { places: false }))).toEqual(
      formatBundleUpgradeMetadata(readBundleUpgradeMetadata(files())),
    )
  })

  test('contain the name, replaces, skips, and package', () => {
    const messages = formatBundleUpgradeMetadata(
      readBundleUpgradeMetadata(
        createBundleWithCsv(createCsvYaml('  replaces: foo.v1.0.0\n  skips:\n  - x\n')),
        { places: false },
      ),
    )
    expect(messages).toMatchObject({
      name: 'foo.v2.0.0',
      replaces: 'foo.v1.0.0',
      skips: ['x'],
      package: 'foo',
    })
  })
})
