import { expect, test } from '@jest/globals'
import { parseClientAddress } from '../../../src/web/server/request-rate-limiter.ts'

const getClientAddress = (remoteAddress: string, forwarded?: string) =>
  parseClientAddress({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as never)

test('the zone of an address, which is text of any length, is no part of who asks', () => {
  expect(getClientAddress('10.0.0.1', `fe80::1%${'z'.repeat(5000)}`)).toBe(
    getClientAddress('10.0.0.1', 'fe80::1'),
  )
  expect(getClientAddress('fe80::1%eth0')).toBe(getClientAddress('fe80::1'))
  expect(getClientAddress('10.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
})
