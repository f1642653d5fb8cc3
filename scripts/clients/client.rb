# client.rb URL: one GET with the timeout settings of net/http.
require 'net/http'
require 'openssl'

uri = URI(ARGV[0])
http = Net::HTTP.new(uri.host, uri.port)
http.use_ssl = uri.scheme == 'https'
http.verify_mode = OpenSSL::SSL::VERIFY_NONE if http.use_ssl?
http.open_timeout = ENV['CONNECT'].to_f
http.read_timeout = ENV['READ'].to_f
begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
begin
  http.get('/')
ensure
  puts format('took %.3f', Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun)
end
