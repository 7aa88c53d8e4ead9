process.stdout.write('loadgen 0.1.0\n');
