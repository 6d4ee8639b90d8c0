// Mocks GitHub with nock for the tests of one file.
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'
import nock from 'nock'

/**
 * Blocks all requests that are not mocked, and expects that each test sends every request that it mocks.
 *
 * From its import on, nock intercepts all sockets of the process, with which gRPC of a later test file does not work.
 * Therefore it is switched off after each file.
 */
export function blockUnmockedRequests(): void {
  beforeAll(() => {
    if (!nock.isActive()) nock.activate()
    nock.disableNetConnect()
  })
  afterAll(() => {
    nock.enableNetConnect()
    nock.restore()
  })
  afterEach(() => {
    const pending = nock.pendingMocks()
    nock.cleanAll()
    expect(pending).toEqual([])
  })
}
