import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { readSettings, SettingsError } from '../../src/jobs/settings.ts'

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const validEnvironment = {
  APP_ID: '12',
  PRIVATE_KEY: privateKey,
  WEBHOOK_SECRET: 'sixteen or more characters',
}

describe('the settings', () => {
  test('are complete with three variables', () => {
    expect(readSettings(validEnvironment)).toMatchObject({
      credentials: { appId: 12, privateKey },
      port: 3000,
      sweepSeconds: 180,
      throttle: true,
      writePause: 1000,
      reserves: { landing: 0, look: 0.1, sweep: 0.3, scan: 0.5 },
      scanSeconds: undefined,
      secondLookSeconds: 3600,
    })
    expect(readSettings({ ...validEnvironment, SCAN_SECONDS: '0' }).scanSeconds).toBe(0)
  })
  test.each([
    [{}, 'https://api.github.com', 'https://github.com'],
    [{ GITHUB_URL: 'https://github.com/' }, 'https://api.github.com', 'https://github.com'],
    [{ GITHUB_URL: 'https://ghe.example/' }, 'https://ghe.example/api/v3', 'https://ghe.example'],
    [{ GITHUB_API_URL: 'https://ghe.example/api/v3/' }, 'https://ghe.example/api/v3', 'https://ghe.example'],
    [
      { GITHUB_API_URL: 'https://a.example', GITHUB_URL: 'https://g.example' },
      'https://a.example',
      'https://g.example',
    ],
  ])('derive one URL of an Enterprise Server from the other: %j', (given, apiUrl, gitUrl) => {
    expect(readSettings({ ...validEnvironment, ...given })).toMatchObject({ apiUrl, gitUrl })
  })
  test("parse the share of GitHub's rate limit that is reserved for more important work", () => {
    const read = (GITHUB_RESERVES: string) => readSettings({ ...validEnvironment, GITHUB_RESERVES }).reserves
    expect(read('0,25,90')).toEqual({ landing: 0, look: 0, sweep: 0.25, scan: 0.9 })
    for (const wrong of ['10', '30,20,50', '10,30,95', '-1,0,0', '1,2,3,4', 'a,b,c'])
      expect(() => read(wrong)).toThrow('GITHUB_RESERVES: must be three ascending percentages')
  })
  test('ignore whitespace around a value, because files of mounted Secrets often end with a newline', () => {
    const padded = Object.fromEntries(
      Object.entries(validEnvironment).map(([name, value]) => [name, `${value}\n`]),
    )
    expect(readSettings({ ...padded, PUBLIC_URL: ' https://bot.example.com\n' })).toMatchObject({
      credentials: { appId: 12, webhookSecret: validEnvironment.WEBHOOK_SECRET },
      publicUrl: 'https://bot.example.com',
    })
  })
  test('only disable sign-in with an http:// address, because the setup page always stores a client', () => {
    const client = { CLIENT_ID: 'Iv1.1', CLIENT_SECRET: 'x'.repeat(20) }
    const read = (PUBLIC_URL: string, PAGES = 'public') =>
      readSettings({ ...validEnvironment, ...client, PUBLIC_URL, PAGES }).signIn
    expect(read('https://bot.example.com')).toEqual({ clientId: 'Iv1.1', clientSecret: 'x'.repeat(20) })
    expect(read('http://bot.example.com')).toBeUndefined()
    expect(() => read('http://bot.example.com', 'signed-in')).toThrow('PUBLIC_URL that starts with https://')
  })
  test('have no credentials on a first start', () => {
    expect(readSettings({}).credentials).toBeUndefined()
    expect(readSettings({ APP_ID: '', PRIVATE_KEY: '' }).credentials).toBeUndefined()
  })
  test.each([
    ['without a webhook secret', { ...validEnvironment, WEBHOOK_SECRET: undefined }],
    ["with Probot's well-known secret", { ...validEnvironment, WEBHOOK_SECRET: 'development' }],
    ['with a short secret', { ...validEnvironment, WEBHOOK_SECRET: 'short' }],
    ['without a private key', { ...validEnvironment, PRIVATE_KEY: undefined }],
    ['without an id', { ...validEnvironment, APP_ID: undefined }],
    ['with a truncated key', { ...validEnvironment, PRIVATE_KEY: privateKey.slice(0, 800) }],
    ['with an invalid key', { ...validEnvironment, PRIVATE_KEY: 'nonsense' }],
    [
      'with a key file that does not exist',
      { ...validEnvironment, PRIVATE_KEY: undefined, PRIVATE_KEY_PATH: '/nonexistent/key.pem' },
    ],
  ])('are rejected %s', (_name, environment: Record<string, string | undefined>) => {
    expect(() => readSettings(environment)).toThrow(SettingsError)
  })
  test.each([
    ['PORT', 'http', 'PORT: must be a number'],
    ['PORT', '65536', 'PORT: must be at most 65535'],
    ['SWEEP_SECONDS', '0', 'SWEEP_SECONDS: must be at least 1'],
    ['SWEEP_SECONDS', '1.5', 'SWEEP_SECONDS: must be an integer'],
    ['LOG_LEVEL', 'verbose', 'LOG_LEVEL: must be one of: trace, debug, info, warn, error, fatal, silent'],
    ['PUBLIC_URL', 'bot.example.com', 'PUBLIC_URL: must be a URL that starts with https:// or http://'],
    ['GITHUB_URL', 'ghe.example', 'GITHUB_URL: must be a URL that starts with https:// or http://'],
    ...['GITHUB_URL', 'GITHUB_API_URL', 'RULES_URL'].map(
      (name) =>
        [name, 'https://a:b@ghe.example', `${name}: must not contain a user name or password`] as const,
    ),
  ])('reject %s=%s, and explain which values are valid', (name, value, message) => {
    expect(() => readSettings({ ...validEnvironment, [name]: value })).toThrow(new SettingsError(message))
  })
  test.each([
    ['with escaped newlines', privateKey.replaceAll('\n', '\\n')],
    ['as base64', Buffer.from(privateKey).toString('base64')],
  ])('accept a private key %s', (_name, text) => {
    expect(readSettings({ ...validEnvironment, PRIVATE_KEY: text }).credentials?.privateKey).toBe(privateKey)
  })
  test('never reveal a secret in an error', () => {
    const secret = 'hunter2-hunter'
    expect(() => readSettings({ ...validEnvironment, WEBHOOK_SECRET: secret })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining(secret) }),
    )
  })
})
