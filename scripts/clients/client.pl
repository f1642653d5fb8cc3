# client.pl URL: one GET with HTTP::Tiny's own timeout.
use strict;
use warnings;
use HTTP::Tiny;
use Time::HiRes qw(time);

my $begun = time;
my $answer = HTTP::Tiny->new(timeout => $ENV{READ}, verify_SSL => 0)->get($ARGV[0]);
printf "took %.3f\n", time - $begun;
print STDERR "$answer->{status} $answer->{content}\n";
exit($answer->{success} ? 0 : 1);
