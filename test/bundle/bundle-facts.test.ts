// What a neighbour says of its place among others is what reading it exactly says, places aside.
import { describe, expect, test } from '@jest/globals'
import { bundleFacts, type BundleFacts, type Said } from '../../src/bundle/bundle-facts.ts'

const bundle = (
  csv: string,
  annotations = 'annotations: {operators.operatorframework.io.bundle.package.v1: foo}\n',
) =>
  new Map([
    ['manifests/a.yaml', Buffer.from('kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\n')],
    ['manifests/foo.clusterserviceversion.yaml', Buffer.from(csv)],
    ['metadata/annotations.yaml', Buffer.from(annotations)],
  ])

function texts(facts: BundleFacts) {
  const text = (said: Said | undefined) => said?.text
  const { name, version, replaces, skips, skipRange, channels, defaultChannel } = facts
  return {
    ...{ name: text(name), version: text(version), replaces: text(replaces), skipRange: text(skipRange) },
    ...{ skips: skips.map(text), channels: channels.map(text), defaultChannel: text(defaultChannel) },
    package: text(facts.package),
  }
}

const csv = (spec: string, head = '') => `${head}apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  annotations:
    olm.skipRange: '>=1.0.0 <2.0.0'
    alm-examples: |-
      [{"kind": "Foo"}]
  name: foo.v2.0.0
spec:
${spec}`

describe('facts without places', () => {
  test.each([
    [
      'plain fields',
      csv('  replaces: foo.v1.0.0\n  version: 2.0.0\n  skips:\n  - foo.v1.5.0\n  - "foo.v1.6.0"\n'),
    ],
    ['fields of other types', csv('  replaces: 1.0\n  version: 2\n  skips:\n  - 3\n  - yes\n  - null\n')],
    ['a flow list', csv('  skips: [foo.v1.5.0, foo.v1.6.0]\n')],
    ['an anchor', csv('  replaces: &a foo.v1.0.0\n  skips:\n  - *a\n')],
    ['a key twice', csv('  replaces: foo.v1.0.0\n  replaces: foo.v1.1.0\n')],
    ['a merge', csv('  <<: {replaces: foo.v1.0.0}\n')],
    ['JSON', '{"kind":"ClusterServiceVersion","metadata":{"name":"foo.v1"},"spec":{"skips":["x"]}}'],
    [
      'several documents',
      csv('  replaces: foo.v1.0.0\n---\nkind: ClusterServiceVersion\nmetadata: {name: other}\n'),
    ],
    ['an empty document in front', `---\n---\n${csv('  replaces: foo.v1.0.0\n')}`],
    ['a separator in front', csv('  replaces: foo.v1.0.0\n', '---\n')],
    ['a comment and a byte order mark', csv('  replaces: foo.v1.0.0 # x\n', '\ufeff# y\n')],
    ['carriage returns', csv('  replaces: foo.v1.0.0\n').replaceAll('\n', '\r\n')],
    ['no line end', csv('  replaces: foo.v1.0.0')],
    ['an unreadable document', csv('  replaces: "foo\n')],
    ['bytes that are no text', csv('  replaces: foo\u0001\n')],
    ['a version of three parts', csv('').replace('operators.coreos.com/v1alpha1', 'a/b/c')],
    ['no kind', csv('').replace('kind: ClusterServiceVersion\n', '')],
    ['nothing', ''],
  ])('are those with places: %s', (_, text) => {
    const files = () => bundle(text)
    expect(texts(bundleFacts(files(), { places: false }))).toEqual(texts(bundleFacts(files())))
  })

  test('are read at all', () => {
    const said = texts(
      bundleFacts(bundle(csv('  replaces: foo.v1.0.0\n  skips:\n  - x\n')), { places: false }),
    )
    expect(said).toMatchObject({ name: 'foo.v2.0.0', replaces: 'foo.v1.0.0', skips: ['x'], package: 'foo' })
  })
})
