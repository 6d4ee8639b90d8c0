// Where an App's credentials may push. The attacker here controls the configuration of a repository.
import { describe, expect, test } from '@jest/globals'
import {
  matchesImagePattern,
  findImagePushGrant,
  findWebhookGrant,
  parsePushTargets,
} from '../../../src/publish/process/push-targets.ts'

const pushTargets = parsePushTargets(`
- github: coast/operators
  installation: 7
  push: [quay.io/coast/catalog, quay.io/coast/catalogs/*]
  credentials: coast.json
  webhooks:
    - { url: 'https://ci.coast.example/hook', secret: hook.secret }
- github: inland/operators
  push: [quay.io/inland/catalog]
  credentials: inland.json
`)
const requestingRepository = { github: { owner: 'coast', name: 'operators' }, installation: 7 }

describe("the operator's list", () => {
  test('lets a repository push to the listed images, regardless of the case of its name', () => {
    expect(findImagePushGrant(pushTargets, requestingRepository, 'quay.io/coast/catalog')).toMatchObject({
      kind: 'granted',
      at: 0,
    })
    expect(findImagePushGrant(pushTargets, requestingRepository, 'quay.io/coast/catalogs/v4')).toMatchObject({
      kind: 'granted',
    })
    const otherCaseSource = { github: { owner: 'Coast', name: 'Operators' }, installation: 7 }
    expect(findImagePushGrant(pushTargets, otherCaseSource, 'quay.io/coast/catalog')).toMatchObject({
      kind: 'granted',
    })
  })

  test.each([
    ["another tenant's repository", 'quay.io/inland/catalog'],
    ['a name that only starts like an allowed one', 'quay.io/coast/catalog-evil'],
    ['the parent of an allowed prefix', 'quay.io/coast/catalogs'],
    ['a path with parent directories', 'quay.io/coast/catalogs/../../inland/catalog'],
    ['another host with the same path', 'quay.io.evil.example/coast/catalog'],
    ['the same name without a host', 'coast/catalog'],
    ['another port', 'quay.io:8443/coast/catalog'],
    ['a user before the host', 'user@quay.io/coast/catalog'],
    ['a tag hidden in the name', 'quay.io/coast/catalog:latest'],
    ['a digest hidden in the name', `quay.io/coast/catalog@sha256:${'a'.repeat(64)}`],
    ['a URL instead of a name', 'https://quay.io/coast/catalog'],
    ['an empty name', ''],
  ])('rejects %s', (_name, image) => {
    expect(findImagePushGrant(pushTargets, requestingRepository, image)).toMatchObject({ kind: 'refused' })
  })

  test('rejects another GitHub repository, and the same name under another installation', () => {
    const inland = { github: { owner: 'inland', name: 'operators' }, installation: 8 }
    expect(findImagePushGrant(pushTargets, inland, 'quay.io/coast/catalog')).toMatchObject({
      kind: 'refused',
    })
    // The repository name was released, and another owner has taken it.
    expect(
      findImagePushGrant(pushTargets, { ...requestingRepository, installation: 9 }, 'quay.io/coast/catalog'),
    ).toMatchObject({ kind: 'refused' })
    const fork = { github: { owner: 'mallory', name: 'operators' }, installation: 7 }
    expect(findImagePushGrant(pushTargets, fork, 'quay.io/coast/catalog')).toMatchObject({ kind: 'refused' })
  })

  test('allows a webhook only at exactly its URL', () => {
    expect(
      findWebhookGrant(pushTargets, requestingRepository, 'https://ci.coast.example/hook'),
    ).toMatchObject({ kind: 'granted' })
    for (const url of [
      'https://ci.coast.example/hook/',
      'https://ci.coast.example/hook?to=elsewhere',
      'http://ci.coast.example/hook',
      'https://ci.coast.example.evil.example/hook',
    ])
      expect(findWebhookGrant(pushTargets, requestingRepository, url)).toMatchObject({ kind: 'refused' })
  })

  test('compares Docker Hub images by their full names', () => {
    expect(matchesImagePattern('docker.io/coast/catalog', 'coast/catalog')).toBe(true)
    expect(matchesImagePattern('docker.io/library/*', 'catalog')).toBe(true)
    expect(matchesImagePattern('docker.io/coast/*', 'index.docker.io/coast/catalog')).toBe(true)
  })

  test.each([
    ['a pattern of GitHub repositories', '- {github: coast/*, push: [quay.io/a/b]}'],
    ['a host without a path', '- {github: a/b, push: [quay.io]}'],
    ['everything', "- {github: a/b, push: ['*']}"],
    ['every path on a host', "- {github: a/b, push: ['quay.io/*']}"],
    ['a pattern in the middle', "- {github: a/b, push: ['quay.io/*/catalog']}"],
    ['a name without a host', '- {github: a/b, push: [coast/catalog]}'],
    ['a tag', "- {github: a/b, push: ['quay.io/a/b:latest']}"],
    ['an unknown key', '- {github: a/b, push: [quay.io/a/b], credential: x}'],
    ['something other than a list', 'github: a/b'],
    ['invalid YAML', '- {'],
  ])('is rejected with %s', (_name, text) => {
    expect(() => parsePushTargets(text)).toThrow(/PUBLISH_TARGETS/)
  })

  test('allows no push if it is empty', () => {
    expect(
      findImagePushGrant(parsePushTargets(''), requestingRepository, 'quay.io/coast/catalog'),
    ).toMatchObject({ kind: 'refused' })
  })
})
