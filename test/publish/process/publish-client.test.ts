import { describe, expect, test } from '@jest/globals'
import {
  createPublishClient,
  extractPublishEnvironment,
} from '../../../src/publish/process/publish-client.ts'

describe("the publishing process's environment", () => {
  test("is taken out of the App's, so that no other process inherits a credential", () => {
    const environment: Record<string, string | undefined> = {
      PUBLISH_TARGETS: '/run/targets.yml',
      PUBLISH_CREDENTIALS: '{"auths":{}}',
      PUBLISH_KEY_PASSWORD: 'opens the key',
      PULL_SECRETS: '/run/pull',
      PRIVATE_KEY: 'the key of the App',
      WEBHOOK_SECRET: 'a secret',
      DOCKER_AUTH_CONFIG: '{}',
      ONLY_REGISTRIES: 'quay.io',
    }
    expect(extractPublishEnvironment(environment)).toEqual({
      PUBLISH_TARGETS: '/run/targets.yml',
      PUBLISH_CREDENTIALS: '{"auths":{}}',
      PUBLISH_KEY_PASSWORD: 'opens the key',
      ONLY_REGISTRIES: 'quay.io',
    })
    expect(environment['PUBLISH_CREDENTIALS']).toBeUndefined()
    expect(environment['PUBLISH_KEY_PASSWORD']).toBeUndefined()
    expect(environment['PRIVATE_KEY']).toBe('the key of the App')
  })

  test("rejects orders without the operator's list", async () => {
    const publishing = createPublishClient({ PUBLISH_CREDENTIALS: '{"auths":{}}' })
    const order = {
      kind: 'look',
      github: { owner: 'o', name: 'r' },
      installation: 1,
      image: 'quay.io/o/r',
      tags: [],
    } as const
    expect(await publishing.order(order)).toMatchObject({ kind: 'refused' })
    await publishing.close()
  })
})
